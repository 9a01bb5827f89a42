/** The parts of the configuration file that are about agents. */
import { McpServerName } from '@liminal/protocol';
import { z } from 'zod';

/** Agent types that the configuration cannot replace. */
const builtIn = new Set(['claude-code', 'demo', 'openai', 'anthropic']);

const AgentName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'a name has small letters, digits, ".", "_" and "-", and begins with one of the first two',
  )
  .refine((name) => !builtIn.has(name), 'this agent is built in, and cannot be replaced');

const Variables = z.record(z.string().min(1), z.string());

const McpServerEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: Variables.default({}),
  }),
  z.strictObject({
    type: z.enum(['http', 'sse']),
    url: z.url({ protocol: /^https?$/ }),
    headers: Variables.default({}),
  }),
]);

/** Most configuration files for agents leave out the type of a program. */
const typed = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && !('type' in entry)
    ? { type: 'stdio', ...entry }
    : entry;

/** MCP servers that every agent gets, by name. */
export const McpServerEntries = z.record(McpServerName, z.preprocess(typed, McpServerEntry));

/** An agent that speaks ACP on its standard input and output. */
export const AgentEntry = z.strictObject({
  /** A program on PATH, or a path relative to this file's folder. */
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Added to what the agent inherits. */
  env: Variables.default({}),
  /** Its name for people. */
  name: z.string().min(1).optional(),
  /** One sentence for people. */
  description: z.string().min(1).optional(),
  /** Settings of a new session by id, as the agent names them: `mode`, `model`, … */
  defaults: z.record(z.string(), z.string()).default({}),
  /** Whether it may read and write files through Liminal; by default every agent may, except Gemini CLI. */
  files: z.boolean().optional(),
  /** One process for all sessions of this agent, if it can: less memory, but they end together. */
  sharedProcess: z.boolean().default(false),
  /** Time limit for its first answer after the start (ms). */
  startLimitMs: z.int().positive().optional(),
  /** Time limit for opening a session, MCP servers and sign-in included (ms). */
  openLimitMs: z.int().positive().optional(),
  /** In place of those that every agent gets; false: none. */
  mcpServers: z.union([z.literal(false), McpServerEntries]).optional(),
});
export type AgentEntry = z.infer<typeof AgentEntry>;

export const AgentEntries = z.record(AgentName, AgentEntry);

/** Claude Code, which is built in. */
export const ClaudeEntry = z.strictObject({
  /** Added to its own system prompt, in every session. */
  appendSystemPrompt: z.string().trim().min(1).max(100_000).optional(),
});
export type ClaudeEntry = z.infer<typeof ClaudeEntry>;
