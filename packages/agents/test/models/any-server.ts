/** A scripted model server for each API; one script defines the answers and refusals for all APIs. */
import {
  answer,
  apiError,
  chat,
  functionCall,
  given,
  httpError,
  incomplete,
  message,
  reasoning,
  reply,
  startChatCompletionsApi,
  startMessagesApi,
  startResponsesApi,
  text,
  thinking,
  toolUse,
  webSearch,
} from '@liminal/testkit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentBlock, Response } from '@liminal/protocol';
import { DriverProvider } from '../../src/base/driver-provider.ts';
import { AnthropicClient } from '../../src/own/makers/anthropic/index.ts';
import { createModelDrivers, type ModelClient } from '../../src/own/loop/index.ts';
import { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { foldTurn } from '../../src/testing/folding.ts';
import { expectWholeTurn, Watch } from '../../src/testing/watch.ts';
import type { Tool } from '../../src/own/tools/index.ts';

export const interfaces = ['Chat Completions', 'Responses', 'Messages'] as const;
export type Interface = (typeof interfaces)[number];

export interface WantedCall {
  name: string;
  /** JSON, or only the beginning of JSON. */
  arguments: string;
  callId?: string;
}

export interface Page {
  title: string;
  url: string;
}

/** The text and calls of a model's answer, or the error with which its server refuses the request. */
export interface ScriptedAnswer {
  /** The thinking before the text; signed or encrypted if the API signs or encrypts thinking. */
  thought?: string;
  words?: string;
  calls?: WantedCall[];
  /** A web search by the server, before the text; not for Chat Completions. */
  searched?: { words: string; found: Page[]; failed?: string };
  /** Only for the Messages API: blocks at the beginning of the answer. */
  blocks?: Record<string, unknown>[];
  /** Only for the Messages API: whether the model pauses. */
  isPaused?: boolean;
  /** The pages that the text cites. */
  cited?: Page[];
  /** Only for Chat Completions: chunks at the beginning of the stream. */
  chunks?: unknown[];
  /** Whether the answer ends because of its length limit. */
  isCut?: boolean;
  refused?: string;
  /** The status of the refusal. Default: 400. */
  status?: number;
}

/** @param body - The body of the model request. */
export type AnswerScript = (body: Record<string, unknown>) => ScriptedAnswer;

export interface AnyServer {
  client: ModelClient;
  bodies: () => Record<string, unknown>[];
  close: () => Promise<void>;
}

const filled = (said: ScriptedAnswer) => ({
  thought: undefined,
  words: '',
  calls: [],
  cited: [],
  searched: undefined,
  blocks: [],
  isPaused: false,
  isCut: false,
  refused: undefined,
  status: 400,
  chunks: [],
  ...said,
});

type Searched = NonNullable<ScriptedAnswer['searched']>;

function searchOf({ words: query, found, failed }: Searched) {
  const sources = found.map(({ url }) => ({ type: 'url', url }));
  const search = webSearch({ type: 'search', query, sources });
  if (failed === undefined) return search;
  return { ...search, result: { ...search.result, status: 'failed', error: { message: failed } } };
}

let searches = 0;

function searchBlocks({ words: query, found, failed }: Searched) {
  const id = `srvtoolu_${(searches += 1)}`;
  const results = found.map((page) => ({
    type: 'web_search_result',
    encrypted_content: 'e',
    ...page,
  }));
  const error = { type: 'web_search_tool_result_error', error_code: failed };
  return [
    given({ type: 'server_tool_use', id, name: 'web_search', input: { query } }),
    given({
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: failed === undefined ? results : error,
    }),
  ];
}

const start: Record<Interface, (says: AnswerScript) => Promise<AnyServer>> = {
  'Chat Completions': async (says) => {
    const api = await startChatCompletionsApi({
      script: ({ body }) => {
        const { thought, words, calls, cited, isCut, refused, status, chunks } = filled(says(body));
        if (refused !== undefined) return chat.httpError(status, refused);
        const made = calls.map(({ name, arguments: input, callId }) =>
          chat.call(name, input, { ...(callId !== undefined && { callId }) }),
        );
        const given = chunks.map((one) => chat.chunk(one));
        const thoughts = [...given, ...(thought === undefined ? [] : [chat.thinking(thought)])];
        const annotations = cited.map((page) => ({ type: 'url_citation', url_citation: page }));
        const sources = { choices: [{ index: 0, delta: { annotations } }] };
        const said = words === '' ? [] : [chat.text(words)];
        const citing = cited.length === 0 ? [] : [chat.chunk(sources)];
        const items = [...thoughts, ...said, ...citing, ...made];
        return chat.answer(items, { ...(isCut && { finishReason: 'length' }) });
      },
    });
    return {
      client: new OpenAiClient({ baseUrl: api.url, api: 'chat' }),
      bodies: () => api.requests.map(({ body }) => body),
      close: () => api.close(),
    };
  },
  Responses: async (says) => {
    const api = await startResponsesApi({
      script: ({ body }) => {
        const { thought, words, calls, cited, searched, isCut, refused, status } = filled(
          says(body),
        );
        if (refused !== undefined) return httpError(status, refused);
        const made = calls.map(({ name, arguments: input, callId }) => ({
          ...functionCall(name, {}, { ...(callId !== undefined && { callId }) }),
          parts: [input],
        }));
        const thoughts = thought === undefined ? [] : [reasoning([thought])];
        const annotations = cited.map((page) => ({ type: 'url_citation', ...page }));
        const said = words === '' ? [] : [message(words, { annotations })];
        const searches = searched === undefined ? [] : [searchOf(searched)];
        const items = [...thoughts, ...searches, ...said, ...made];
        return isCut ? incomplete('max_output_tokens', items) : answer(items);
      },
    });
    return {
      client: new OpenAiClient({ baseUrl: api.url, webSearch: true }),
      bodies: () => api.requests.map(({ body }) => body),
      close: () => api.close(),
    };
  },
  Messages: async (says) => {
    const api = await startMessagesApi({
      answersAll: true,
      script: ({ body }) => {
        const said = filled(says(body));
        const { thought, words, calls, cited, searched, isPaused, isCut, refused, status } = said;
        if (refused !== undefined) return apiError(status, refused);
        const made = calls.map(({ name, arguments: input, callId }) => ({
          ...toolUse(name, {}, { ...(callId !== undefined && { id: callId }) }),
          parts: [input],
        }));
        const thoughts = thought === undefined ? [] : [thinking(thought)];
        const citations = cited.map((page) => ({ type: 'web_search_result_location', ...page }));
        const deltas = citations.map((citation) => ({ type: 'citations_delta', citation }));
        const citing =
          cited.length === 0 ? text(words) : given({ type: 'text', text: words }, deltas);
        const searches = searched === undefined ? [] : searchBlocks(searched);
        const started = said.blocks.map((block) => given(block));
        const ended = words === '' ? [] : [citing];
        const blocks = [...started, ...thoughts, ...searches, ...ended, ...made];
        if (isPaused) return reply(blocks, { stopReason: 'pause_turn' });
        return reply(blocks, { ...(isCut && { stopReason: 'max_tokens' }) });
      },
    });
    return {
      client: new AnthropicClient({ baseUrl: api.url, webSearch: true }),
      bodies: () => api.requests.map(({ body }) => body),
      close: () => api.close(),
    };
  },
};

export interface AnySession {
  runTurn: (message: string, blocks?: ContentBlock[]) => Promise<Response>;
  bodies: AnyServer['bodies'];
  watch: Watch;
  projectDir: string;
  close: () => Promise<void>;
}

/** Opens a session with a model of a server with this API; the session continues stored turns, if given. */
export async function openSession(
  kind: Interface,
  says: AnswerScript,
  tools: readonly Tool[],
  stored: readonly Response[] = [],
): Promise<AnySession> {
  const server = await start[kind](says);
  const projectDir = await mkdtemp(join(tmpdir(), 'liminal-any-server-'));
  const servers = [{ name: 'any', title: 'Any', client: server.client, model: 'scripted' }];
  const retries = { attempts: 2, firstMs: 1, maxMs: 10 };
  const [provider] = createModelDrivers({ servers, tools, retries }).map(
    (driver) => new DriverProvider(driver),
  );
  if (provider === undefined) throw new Error('No provider was created.');
  const watch = new Watch(provider, 's');
  const runs = async () => [...stored];
  await provider.loadSession('s', { projectDir, config: {}, stored: { runs } });
  return {
    watch,
    projectDir,
    bodies: server.bodies,
    runTurn: async (words, blocks = []) => {
      const { turnId } = await provider.sendMessage('s', words, { blocks });
      expectWholeTurn(await watch.ended(turnId));
      return foldTurn(watch.events, turnId);
    },
    close: async () => {
      await provider.close();
      await server.close();
      await rm(projectDir, { recursive: true });
    },
  };
}
