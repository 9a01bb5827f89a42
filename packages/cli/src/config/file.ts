import { thrownMessage } from '@liminal/protocol';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { describeIssues, errors } from '../errors.ts';
import { AgentEntries, ClaudeEntry, McpServerEntries } from './agents.ts';
import { ModelEntries, ToolsEntry } from './models.ts';
import { readSmall } from '../data/read-small.ts';
import {
  expandAgent,
  expander,
  expandHeaders,
  expandMcpServers,
  fromHome,
  mapValues,
} from './expand.ts';
import { DatabaseUrl, Host, Port, RedisUrl } from './values.ts';

const ms = z.int().nonnegative();

const UpsertsEntry = z.strictObject({
  batchGradientTokens: z.array(z.number().positive()).min(1).exactOptional(),
  batchTimeoutMs: z.int().positive().exactOptional(),
  tokenCounter: z.enum(['characters', 'words']).exactOptional(),
  firstEmission: z.enum(['immediate', 'threshold']).exactOptional(),
  retryAttempts: z.int().nonnegative().exactOptional(),
  retryBaseMs: ms.exactOptional(),
  retryMaxMs: ms.exactOptional(),
});

/** The configuration file. The file does not contain the token, so it may be shared. */
export const ConfigFile = z.strictObject({
  port: Port.optional(),
  host: Host.optional(),
  /** Listen on an address that other machines can reach, without encryption. */
  insecureHost: z.boolean().optional(),
  /** Open the link in a browser after the start. */
  open: z.boolean().optional(),
  /** Each project folder must be below one of these folders. Relative to this file; `~` is the home folder. */
  roots: z.array(z.string().min(1)).min(1).optional(),
  /** Other names by which clients reach the server, `name` or `name:port`. */
  allowedHosts: z.array(z.string().min(1).toLowerCase()).optional(),
  /** Other origins whose pages may send requests to the server, `https://name`. */
  allowedOrigins: z.array(z.url()).optional(),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).optional(),
  /** How long turns may continue after the server was asked to stop, in ms. With 0, turns stop at once. */
  endLimitMs: ms.max(24 * 60 * 60_000).optional(),
  /** Whether spans contain prompts, answers, and the inputs and outputs of tools. */
  captureContent: z.boolean().optional(),
  /** How long an agent may be silent in a turn before Liminal ends the agent, in ms. With 0, there is no limit. */
  idleLimitMs: ms.optional(),
  /** How Liminal answers permission requests that nobody answers. `deadlineMs` is in ms; with 0, there is no limit. */
  approvals: z.strictObject({ deadlineMs: ms, fallback: z.enum(['reject', 'allow']) }).optional(),
  maxSessions: z.int().positive().optional(),
  maxQueue: z.int().positive().optional(),
  maxIdleProcesses: ms.optional(),
  /** Whether messages that begin with `!` run as commands, as in the terminals of Claude Code and Codex. */
  userCommands: z.boolean().optional(),
  /** Whether a turn's events are kept after its end. */
  keepEvents: z.boolean().optional(),
  /** How long an agent's text is collected into one event, in ms. */
  cadenceMs: z.int().min(0).max(1_000).optional(),
  /**
   * The Redis and the database that several servers share. Both or neither must be set. Passwords belong in the
   * variables LIMINAL_…_URL rather than in this file.
   */
  redisUrl: RedisUrl.optional(),
  databaseUrl: DatabaseUrl.optional(),
  redisPrefix: z.string().min(1).optional(),
  databaseSchema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a name in lower-case letters')
    .optional(),
  /** How long after a server's death other servers take over its sessions, in ms. */
  leaseMs: z.int().min(1_000).optional(),
  /**
   * Whether this server also copies finished runs to history. If no server does this, `./liminal projector` must run.
   */
  projector: z.boolean().optional(),
  /** Whether upserts are published in Redis, for programs in any language. */
  publishUpserts: z.boolean().optional(),
  /** How upserts are published; see `UpsertSettings`. */
  upserts: UpsertsEntry.optional(),
  agents: AgentEntries.optional(),
  claude: ClaudeEntry.optional(),
  mcpServers: McpServerEntries.optional(),
  models: ModelEntries.optional(),
  tools: ToolsEntry.optional(),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

/**
 * Reads a configuration file. Returns an empty configuration for a missing file, unless it is `required`. Throws
 * `ConfigError`.
 */
export function readConfigFile(
  path: string,
  { required, home, env }: { required: boolean; home: string; env: NodeJS.ProcessEnv },
): ConfigFile {
  const text = readConfigText(path, required);
  if (text === undefined) return {};
  const parsed = ConfigFile.safeParse(parseJson(path, text));
  if (!parsed.success) {
    throw errors.INVALID_CONFIG.file(path, describeIssues(parsed.error));
  }
  const { roots, agents = {}, mcpServers = {}, models = {} } = parsed.data;
  const both = Object.keys(models).find((name) => name in agents);
  if (both !== undefined) {
    throw errors.INVALID_CONFIG.nameTaken(path, both);
  }
  const expand = expander(path, env, home);
  const fromHere = (command: string): string =>
    command.includes('/') ? resolve(dirname(path), command) : command;
  return {
    ...parsed.data,
    ...(roots && { roots: roots.map((root) => resolve(dirname(path), fromHome(root, home))) }),
    agents: mapValues(agents, (agent, name) => {
      const expanded = expandAgent(agent, expand, `agents.${name}`);
      return { ...expanded, command: fromHere(expanded.command) };
    }),
    mcpServers: expandMcpServers(mcpServers, expand, 'mcpServers'),
    models: mapValues(models, (entry, name) => expandHeaders(entry, expand, `models.${name}`)),
  };
}

function readConfigText(path: string, required: boolean): string | undefined {
  try {
    // A file whose path is given as a flag may be a pipe, for example the shell's `<(…)`.
    return required ? readFileSync(path, 'utf8') : readSmall(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const missing = code === 'ENOENT' || code === 'ENOTDIR';
    if (missing && !required) return undefined;
    const why = missing ? 'the file does not exist' : thrownMessage(cause);
    throw errors.INVALID_CONFIG.unreadableFile(path, why.replace(/\.$/, ''), { cause });
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw errors.INVALID_CONFIG.notJson(path, thrownMessage(cause), { cause });
  }
}
