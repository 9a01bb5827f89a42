import type { ServerResponse } from 'node:http';
import { ConnectionCut } from '../scripted-server/stream-incident.ts';
import { leftEarly, sendJson, serveLoopback } from '../scripted-server/loopback.ts';
import { RecordedRequests } from '../scripted-server/recorded-requests.ts';
import { sendModels, type ModelEntry } from './models.ts';
import { reply, type Reply } from './reply.ts';
import { parseRequest, type MessagesRequest } from './request.ts';
import { answering, type Answer, type Script } from './script.ts';
import { streamReply } from './stream.ts';
import { sendError, sendWhole } from './whole.ts';

export interface MessagesApi {
  /** The value for `ANTHROPIC_BASE_URL`. */
  readonly url: string;
  /** Every request to `/v1/messages` so far, in the order of arrival. */
  readonly requests: MessagesRequest[];
  /** The paths of the requests to `/v1/models`. */
  readonly modelRequests: string[];
  /** Resolves when the client has ended the connection of this request before the answer was complete. */
  left(request: MessagesRequest): Promise<void>;
  /** Replaces the script from the next request on. */
  play(script: Script): void;
  /** Resolves with the first request, past or future, that `matches`. */
  request(matches: (request: MessagesRequest) => boolean): Promise<MessagesRequest>;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

export interface MessagesApiOptions {
  script: Script;
  /** The models of `/v1/models`. If absent, the server replies 404 for that path. */
  models?: ModelEntry[];
  /** The most models on one page. */
  modelsPerPage?: number;
  /** Whether the script also answers requests without tools, for clients that make no requests of their own. */
  answersAll?: boolean;
}

/**
 * Starts a scripted Anthropic Messages API on loopback, for the real Claude Code (or any client), without a key and
 * without network access. The client's own requests receive plausible answers and do not use the script.
 */
export async function startMessagesApi(options: MessagesApiOptions): Promise<MessagesApi> {
  const requests = new RecordedRequests<MessagesRequest>();
  const modelRequests: string[] = [];
  const leaving = new Map<MessagesRequest, Promise<void>>();
  const { answersAll = false } = options;
  let answer: Answer = answering(options.script);
  const server = await serveLoopback((plain, response) => {
    if (plain.path.startsWith('/v1/models') && options.models !== undefined) {
      modelRequests.push(plain.path);
      sendModels(response, plain.path, options.models, options.modelsPerPage ?? 1000);
      return Promise.resolve();
    }
    if (plain.method !== 'POST' || !plain.path.startsWith('/v1/messages')) {
      sendJson(response, 404, notFound(plain.path));
      return Promise.resolve();
    }
    const request = parseRequest(plain.path, plain.headers, JSON.parse(plain.body));
    leaving.set(request, leftEarly(response));
    requests.add(request);
    return handle(request, requests.list.length, response, () =>
      request.kind === 'side' && !answersAll ? answerSideCall(request) : answer(request),
    );
  }, fail);

  return {
    url: server.url,
    requests: requests.list,
    modelRequests,
    left: (request) => leaving.get(request) ?? Promise.reject(new Error('No such request.')),
    play: (script) => {
      answer = answering(script);
    },
    request: (matches) => requests.first(matches),
    close: () => server.close(),
  };
}

const notFound = (path: string) => ({
  type: 'error',
  error: { type: 'not_found_error', message: path },
});

async function handle(
  request: MessagesRequest,
  number: number,
  response: ServerResponse,
  answer: () => Reply,
): Promise<void> {
  const frame = { id: `msg_${String(number).padStart(4, '0')}`, model: request.body.model };
  if (request.path.includes('count_tokens')) sendJson(response, 200, { input_tokens: 100 });
  else await play(response, request, frame, answer());
}

async function play(
  response: ServerResponse,
  request: MessagesRequest,
  frame: { id: string; model: string },
  answer: Reply,
): Promise<void> {
  switch (answer.type) {
    case 'held':
      await answer.gate.pass();
      return play(response, request, frame, answer.reply);
    case 'error':
      return sendError(response, answer);
    case 'message':
      return request.body.stream === true
        ? streamReply(response, frame, answer)
        : sendWhole(response, frame, answer);
  }
}

function answerSideCall(request: MessagesRequest): Reply {
  const asksForTitle = JSON.stringify(request.body.system ?? '').includes('title');
  return reply(asksForTitle ? '{"title":"A scripted session"}' : 'ok', {
    usage: { input_tokens: 1, output_tokens: 1 },
  });
}

function fail(response: ServerResponse, error: unknown): void {
  if (error instanceof ConnectionCut || response.destroyed) return;
  if (response.headersSent) response.destroy();
  else
    sendError(response, {
      type: 'error',
      status: 400,
      error: { type: 'invalid_request_error', message: String(error) },
      headers: {},
    });
}
