import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  ListToolsResultSchema,
  type Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type ContentBlock,
  cutText,
  maxDepth,
  type McpServer,
  thrownMessage,
  sizeOf,
  withinDepth,
} from '@liminal/protocol';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { z } from 'zod';
import manifest from '../../../package.json' with { type: 'json' };
import { childEnvironment } from '../../base/child-environment.ts';
import type { FairSemaphore } from '../../base/fair-semaphore.ts';
import { findProgram } from '../../base/find-program.ts';
import { endTree, processMark } from '../../process/index.ts';
import { type Tool, ToolError, type ToolResult } from '../tools/index.ts';
import { mcpLimits, type McpLimits, McpTraffic } from './mcp-traffic.ts';

export interface McpSurroundings {
  /** The working directory of the programs of MCP servers. */
  projectDir: string;
  /** Environment variables that the programs do not get. */
  hiddenVariables: readonly string[];
  /** Limits how many servers of all sessions start at the same time. */
  starts: FairSemaphore;
  /**
   * Reports a sentence about the server: that the server failed, or what the server wrote before it ended. Reports
   * `undefined` when the server works again.
   */
  onProblem: (server: string, problem: string | undefined) => void;
  /** Default: `mcpLimits`. */
  limits?: Partial<McpLimits>;
}

/** The length of the longest tool name that all makers accept, in characters. */
const maxName = 64;

/** The most characters of a server's error that are shown. */
const maxErrorText = 2_000;

/**
 * The connection to one server. Connects when the tools are first requested, and again after the connection was lost.
 */
export class McpConnection {
  readonly #name: string;
  readonly #server: McpServer;
  readonly #options: McpSurroundings;
  readonly #limits: McpLimits;
  readonly #mark = processMark('tools');
  #connecting: Promise<Tool[]> | undefined;
  #client: Client | undefined;
  /** Resolves when the previous connection has ended. */
  #ending: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();

  constructor(name: string, server: McpServer, options: McpSurroundings) {
    this.#name = name;
    this.#server = server;
    this.#options = options;
    this.#limits = { ...mcpLimits, ...options.limits };
  }

  async tools(): Promise<Tool[]> {
    if (this.#isClosed) return [];
    this.#connecting ??= this.#ending.then(() => this.#connect());
    return this.#connecting;
  }

  async close(): Promise<void> {
    // Do not wait until the server has started, because the start can take long.
    this.#closing.abort();
    await this.#connecting;
    await this.#end(this.#client);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #connect(): Promise<Tool[]> {
    const client = new Client({ name: 'liminal', version: manifest.version });
    let hasStarted = false;
    const exceeded = new AbortController();
    const traffic = new McpTraffic(this.#limits, ({ message }) => {
      if (hasStarted) this.#problem(`was disconnected. ${message}`);
      exceeded.abort();
      void this.#end(client);
    });
    this.#client = client;
    client.onclose = () => this.#lost(client);
    const { startMs } = this.#limits;
    const late = AbortSignal.timeout(startMs);
    const ended = AbortSignal.any([this.#closing.signal, late, exceeded.signal]);
    try {
      // For some of a server's responses the SDK waits without a limit.
      const giveUp = once(ended, 'abort').then(() => Promise.reject(ended.reason));
      const tools = await Promise.race([this.#start(client, traffic, ended), giveUp]);
      hasStarted = true;
      return tools;
    } catch (error) {
      const slow = `It did not answer, or did not list all its tools, within ${startMs / 1_000} s.`;
      const reason = traffic.excess?.message ?? (late.aborted ? slow : errorText(error));
      this.#problem(`did not start. ${reason}`);
      await this.#end(client);
      return [];
    }
  }

  async #start(client: Client, traffic: McpTraffic, signal: AbortSignal): Promise<Tool[]> {
    const options = { signal, timeout: this.#limits.startMs };
    await client.connect(traffic.watch(this.#transport(traffic)), options);
    const tools = await this.#list(client, options);
    const connected = { server: this.#name, identity: identityOf(this.#server), client, traffic };
    return tools.map((tool) => asTool(tool, connected, this.#limits));
  }

  #transport(traffic: McpTraffic): Transport {
    const server = this.#server;
    if (server.type !== 'stdio') {
      const url = new URL(server.url);
      const options = { requestInit: { headers: server.headers }, fetch: traffic.fetch };
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
    const program = findProgram(command, env['PATH']) ?? command;
    return new StdioClientTransport({ command: program, args, env, cwd, stderr: 'ignore' });
  }

  /** Returns the tools within the limits; reports a problem if the server lists more. */
  async #list(client: Client, options: { signal: AbortSignal }): Promise<McpTool[]> {
    const { pages, tools: most, toolSize, toolsSize } = this.#limits;
    const used: McpTool[] = [];
    let [found, size] = [0, 0];
    let cursor: string | undefined;
    for (let page = 1; page === 1 || cursor !== undefined; page += 1) {
      if (page > pages) throw new Error(`Its list of tools has more than ${pages} pages.`);
      // The SDK's `listTools` is not used, because it compiles the server's schemas, and their patterns may run
      // forever.
      const request = { method: 'tools/list' as const, params: { cursor } };
      const { tools, nextCursor } = await client.request(request, ListToolsResultSchema, options);
      for (const tool of tools) {
        const length = withinDepth(tool) === tool ? sizeOf(tool, toolSize) : Infinity;
        if (length > toolSize || size + length > toolsSize || used.length === most) continue;
        used.push(tool);
        size += length;
      }
      found += tools.length;
      cursor = found < most ? nextCursor : undefined;
    }
    this.#options.onProblem(this.#name, undefined);
    if (used.length < found) {
      this.#problem(
        `lists ${found} tools, of which ${used.length} are used: at most ${most}, each with at most ${toolSize / 1024} KiB and ${maxDepth} levels of JSON, and all together with ${toolsSize / 1024} KiB.`,
      );
    }
    return used;
  }

  /** Drops the connection; the next request connects again. */
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

  async #end(client: Client | undefined): Promise<void> {
    if (client) this.#lost(client);
    const before = this.#ending;
    this.#ending = (async () => {
      await before;
      await client?.close().catch(() => undefined);
      if (this.#server.type === 'stdio') await endTree({ mark: this.#mark.id });
    })();
    await this.#ending;
  }
}

const errorText = (error: unknown): string => {
  const message = thrownMessage(error);
  return message.length > maxErrorText ? cutText(message, maxErrorText) : message;
};

interface Connected {
  /** The server's name. */
  server: string;
  /** See `identityOf`. */
  identity: string;
  client: Client;
  traffic: McpTraffic;
}

function asTool(
  tool: McpTool,
  { server, identity, client, traffic }: Connected,
  { callMs, callTotalMs }: McpLimits,
): Tool<Record<string, unknown>> {
  const { name, title, description = '', annotations, inputSchema } = tool;
  const called = toolNameOf(server, name);
  const permission = { always: `${name} of ${server}`, rule: `mcp:${identity}:${name}` };
  const own = `${name} (${server})`;
  const shown = title ?? annotations?.title ?? name;
  const isHarmless = annotations?.readOnlyHint === true && annotations.openWorldHint === false;
  return {
    name: called,
    description,
    kind: 'other',
    input: z.record(z.string(), z.unknown()),
    parameters: inputSchema,
    describe: async () => ({ title: shown === name ? own : `${own}: ${shown}` }),
    needs: () => (isHarmless ? undefined : [permission]),
    run: async (input, { signal, print }) => {
      const options = {
        signal,
        timeout: callMs,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: callTotalMs,
        onprogress: ({ message }: { message?: string | undefined }) => {
          if (message !== undefined) print(`${message}\n`);
        },
      };
      const result = await client
        .callTool({ name, arguments: input }, undefined, options)
        .catch((error: unknown) => {
          throw new ToolError(
            `${server} could not run the tool. ${errorText(traffic.excess ?? error)}`,
          );
        });
      return toToolResult(result as CallToolResult);
    },
  };
}

/**
 * Returns a hash of the program or address of a server. Permissions for tools depend on this hash and not on the
 * server's name, because a session may add its own server under the name of another server.
 */
const identityOf = (server: McpServer): string => hashOf(server, 32);

/**
 * Returns the tool's name `mcp__<server>__<tool>`, in the form that other agents use, and short enough for every maker.
 */
function toolNameOf(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool}`;
  // In an unambiguous name, the first `__` ends the server's name.
  const isClear = !server.includes('__') && !server.endsWith('_');
  if (isClear && plain.length <= maxName && /^[\w-]+$/.test(plain)) return plain;
  const cleaned = plain.replaceAll(/[^\w-]/g, '_').slice(0, maxName - hashLength - 1);
  return `${cleaned}_${hashOf([server, tool], hashLength)}`;
}

const hashLength = 8;

const hashOf = (value: unknown, length: number): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, length);

function toToolResult({ content, structuredContent, isError = false }: CallToolResult): ToolResult {
  const parts = content.map(toPart);
  const texts = parts.flatMap(({ text }) => text ?? []);
  const blocks = parts.flatMap(({ block }) => block ?? []);
  if (texts.length === 0 && structuredContent !== undefined)
    texts.push(JSON.stringify(withinDepth(structuredContent)));
  return { output: texts.join('\n'), success: !isError, ...(blocks.length > 0 && { blocks }) };
}

type McpContent = CallToolResult['content'][number];

/** Converts a content part to text for the model and a block for people. */
function toPart(part: McpContent): { text?: string; block?: ContentBlock } {
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
