/** The parts of the configuration file that describe agents. */
import { McpServerName } from '@liminal/protocol';
import { z } from 'zod';

/** Built-in agent types. The configuration cannot replace these types. */
const builtIn = new Set(['claude-code', 'demo', 'openai', 'anthropic']);

const AgentName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'a name consists of lower-case letters, digits, ".", "_" and "-", and begins with a letter or digit',
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

/** Most configuration files for agents omit the type if the MCP server is a program. */
const typed = (entry: unknown): unknown =>
  typeof entry === 'object' && entry !== null && !('type' in entry)
    ? { type: 'stdio', ...entry }
    : entry;

/** MCP servers for every agent, by name. */
export const McpServerEntries = z.record(McpServerName, z.preprocess(typed, McpServerEntry));

/** An agent that speaks ACP on its standard input and output. */
export const AgentEntry = z.strictObject({
  /** A program on PATH, or a path. A relative path is relative to the folder of this file. */
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Variables added to the agent's inherited environment. */
  env: Variables.default({}),
  /** The agent's display name. */
  name: z.string().min(1).optional(),
  /** One sentence that describes the agent to people. */
  description: z.string().min(1).optional(),
  /** Settings of a new session: the key is the id that the agent uses, for example `mode` or `model`. */
  defaults: z.record(z.string(), z.string()).default({}),
  /** Whether the agent may read and write files through Liminal; by default every agent may, except Gemini CLI. */
  files: z.boolean().optional(),
  /**
   * Whether one process serves all sessions of this agent, if the agent supports this. One process needs less memory,
   * but the sessions end together.
   */
  sharedProcess: z.boolean().default(false),
  /** Time limit for the agent's first answer after its start, in ms. */
  startLimitMs: z.int().positive().optional(),
  /** Time limit for opening a session, including MCP servers and sign-in, in ms. */
  openLimitMs: z.int().positive().optional(),
  /** The MCP servers of this agent, which replace the servers for all agents. With false, the agent gets no servers. */
  mcpServers: z.union([z.literal(false), McpServerEntries]).optional(),
});
export type AgentEntry = z.infer<typeof AgentEntry>;

export const AgentEntries = z.record(AgentName, AgentEntry);

/** The configuration of Claude Code, which is built in. */
export const ClaudeEntry = z.strictObject({
  /** Added to Claude Code's own system prompt, in every session. */
  appendSystemPrompt: z.string().trim().min(1).max(100_000).optional(),
});
export type ClaudeEntry = z.infer<typeof ClaudeEntry>;
