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

/** What all agents take as the name of an MCP server. */
export const McpServerName = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'a name has letters, digits, "_" and "-"');

/** By name. */
export const McpServers = z.record(McpServerName, McpServer);
export type McpServers = z.infer<typeof McpServers>;
