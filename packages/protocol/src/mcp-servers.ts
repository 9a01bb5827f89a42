import { z } from 'zod';

const Texts = z.record(z.string(), z.string());

/** An MCP server for agents: a program to start, or an address. */
export const McpServer = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()),
    env: Texts,
  }),
  z.object({
    type: z.enum(['http', 'sse']),
    url: z.url({ protocol: /^https?$/ }),
    headers: Texts,
  }),
]);
export type McpServer = z.infer<typeof McpServer>;

/** The name of an MCP server, in the form that all agents accept. */
export const McpServerName = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'a name must be 1 to 64 letters, digits, "_" or "-"');

/** MCP servers by name. */
export const McpServers = z.record(McpServerName, McpServer);
export type McpServers = z.infer<typeof McpServers>;
