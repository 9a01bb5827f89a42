import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js';
import { type ContentBlock, type McpServer, messageOf } from '@liminal/protocol';
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { childEnvironment } from '../base/child-environment.ts';
import { endTree, processMark } from '../process/index.ts';
import { type Tool, ToolError, type ToolResult } from '../tools/index.ts';
import type { McpSurroundings } from './mcp-tools.ts';

/** How long a server may take to greet and to list its tools, ms. */
const startLimitMs = 30_000;
/** How long a call may take, ms. */
const callLimitMs = 30 * 60_000;
/** How many tools of one server a model is told of. */
const maxTools = 200;
/** A name that all makers of models take. */
const maxName = 64;

/** One server: connected when its tools are first asked for, and again after it was lost. */
export class McpConnection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #options: McpSurroundings;
  readonly #mark = processMark('tools');
  #connecting: Promise<Tool[]> | undefined;
  #client: Client | undefined;
  readonly #closing = new AbortController();

  constructor(name: string, server: McpServer, options: McpSurroundings) {
    this.#name = name;
    this.#server = server;
    this.#options = options;
  }

  async tools(): Promise<Tool[]> {
    if (this.#isClosed) return [];
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async close(): Promise<void> {
    // A server may be silent for long: its start is not waited for.
    this.#closing.abort();
    await this.#connecting;
    await this.#end();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #connect(): Promise<Tool[]> {
    const client = new Client({ name: 'liminal', version: manifest.version });
    this.#client = client;
    client.onclose = () => this.#lost(client);
    try {
      await client.connect(this.#transport(), this.#startOptions);
      const tools = await this.#list(client);
      this.#options.onProblem(this.#name, undefined);
      return tools;
    } catch (error) {
      this.#problem(`did not start. ${messageOf(error)}`);
      this.#lost(client);
      await this.#end();
      return [];
    }
  }

  get #startOptions() {
    return { timeout: startLimitMs, signal: this.#closing.signal };
  }

  #transport() {
    const server = this.#server;
    if (server.type !== 'stdio') {
      const url = new URL(server.url);
      const options = { requestInit: { headers: server.headers } };
      return server.type === 'sse'
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, options);
    }
    const { command, args } = server;
    const { projectDir: cwd, hiddenVariables } = this.#options;
    const inherited = Object.entries(process.env).filter(
      ([name]) => !hiddenVariables.includes(name),
    );
    const all = childEnvironment(Object.fromEntries(inherited), server.env, this.#mark.env);
    const env = Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    return new StdioClientTransport({ command, args, env, cwd, stderr: 'ignore' });
  }

  async #list(client: Client): Promise<Tool[]> {
    const found: McpTool[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await client.listTools({ cursor }, this.#startOptions);
      found.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor === undefined || found.length >= maxTools) break;
    }
    if (found.length > maxTools) {
      this.#problem(`has ${found.length} tools, of which only ${maxTools} are used.`);
    }
    return found.slice(0, maxTools).map((tool) => asTool(this.#name, tool, client));
  }

  /** The next message connects anew. */
  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#connecting = undefined;
  }

  #problem(what: string): void {
    if (!this.#isClosed) {
      this.#options.onProblem(this.#name, `The MCP server “${this.#name}” ${what}`);
    }
  }

  async #end(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.close().catch(() => undefined);
    if (this.#server.type === 'stdio') await endTree({ mark: this.#mark.id });
  }
}

function asTool(server: string, tool: McpTool, client: Client): Tool<Record<string, unknown>> {
  const { name, title, description = '', annotations, inputSchema } = tool;
  const called = nameOf(server, name);
  const permission = { always: `${name} of ${server}`, rule: `tool:${called}` };
  const own = `${name} (${server})`;
  const shown = title ?? annotations?.title ?? name;
  const isHarmless = annotations?.readOnlyHint === true && annotations.openWorldHint === false;
  return {
    name: called,
    description,
    kind: 'other',
    input: z.record(z.string(), z.unknown()),
    parameters: inputSchema,
    face: async () => ({ title: shown === name ? own : `${own}: ${shown}` }),
    needs: () => (isHarmless ? undefined : [permission]),
    run: async (input, { signal, print }) => {
      const options = {
        signal,
        timeout: callLimitMs,
        resetTimeoutOnProgress: true,
        onprogress: ({ message }: { message?: string | undefined }) => {
          if (message !== undefined) print(`${message}\n`);
        },
      };
      const result = await client
        .callTool({ name, arguments: input }, undefined, options)
        .catch((error: unknown) => {
          throw new ToolError(`${server} could not do it. ${messageOf(error)}`);
        });
      return resultOf(result as CallToolResult);
    },
  };
}

/** `mcp__<server>__<tool>`, as other agents name them, and short enough for every maker. */
function nameOf(server: string, tool: string): string {
  return `mcp__${server}__${tool}`.replaceAll(/[^\w-]/g, '_').slice(0, maxName);
}

function resultOf({ content, structuredContent, isError = false }: CallToolResult): ToolResult {
  const parts = content.map(partOf);
  const texts = parts.flatMap(({ text }) => text ?? []);
  const blocks = parts.flatMap(({ block }) => block ?? []);
  if (texts.length === 0 && structuredContent !== undefined)
    texts.push(JSON.stringify(structuredContent));
  return { output: texts.join('\n'), success: !isError, ...(blocks.length > 0 && { blocks }) };
}

type Content = CallToolResult['content'][number];

/** What the model reads of a part, and what people see. */
function partOf(part: Content): { text?: string; block?: ContentBlock } {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image':
    case 'audio': {
      const { type, data, mimeType } = part;
      return { block: { type, data, mimeType } };
    }
    case 'resource_link': {
      const { uri, name, title } = part;
      return {
        text: uri,
        block: { type: 'resource_link', uri, name, ...(title !== undefined && { title }) },
      };
    }
    case 'resource': {
      const { uri, mimeType } = part.resource;
      const held =
        'text' in part.resource ? { text: part.resource.text } : { blob: part.resource.blob };
      const block: ContentBlock = {
        type: 'resource',
        resource: { uri, ...(mimeType !== undefined && { mimeType }), ...held },
      };
      return { ...('text' in held && { text: held.text }), block };
    }
  }
}
