import type { ServerResponse } from 'node:http';
import { ConnectionCut } from '../scripted-server/stream-incident.ts';
import { clientLeaves, sendJson, serveLoopback } from '../scripted-server/loopback.ts';
import { defaultModels, type ScriptedModels, sendModels } from '../scripted-server/models.ts';
import { RecordedRequests } from '../scripted-server/recorded-requests.ts';
import { readScript } from '../scripted-server/script.ts';
import { type ChatReply, type ErrorReply, otherError } from './reply.ts';
import { type ChatRequest, parseRequest } from './request.ts';
import { type ChatScript, exhausted } from './script.ts';
import { streamAnswer } from './stream.ts';

export interface ChatCompletionsApi {
  /** The base URL for clients. It ends in `/v1`. */
  readonly url: string;
  /** Every request to `/v1/chat/completions` so far, in the order of arrival. */
  readonly requests: ChatRequest[];
  /** Requests that this server does not support, such as `POST /v1/responses`. */
  readonly unknown: string[];
  /** Replaces the script from the next request on. */
  play(script: ChatScript): void;
  /** Resolves with the first request, past or future, that `matches`. */
  request(matches: (request: ChatRequest) => boolean): Promise<ChatRequest>;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

/**
 * Starts a scripted Chat Completions API on loopback. It is like the many servers that offer only this interface of
 * OpenAI's interfaces.
 */
export async function startChatCompletionsApi(options: {
  script: ChatScript;
  models?: ScriptedModels;
  /** The reply for unknown addresses; by default the 404 of servers that are written in Go. */
  notFound?: ErrorReply;
}): Promise<ChatCompletionsApi> {
  const { models = defaultModels, notFound = otherError(404, '404 page not found') } = options;
  const requests = new RecordedRequests<ChatRequest>();
  const unknown: string[] = [];
  let answer = readScript(options.script, exhausted);
  const server = await serveLoopback(async (plain, response) => {
    const route = `${plain.method} ${plain.path.split('?')[0]}`;
    if (route === 'GET /v1/models') return sendModels(response, models);
    if (route !== 'POST /v1/chat/completions') {
      unknown.push(route);
      return sendError(response, notFound);
    }
    const left = clientLeaves(response);
    const request = parseRequest(plain.path, plain.headers, JSON.parse(plain.body), left);
    requests.add(request);
    const id = `chatcmpl-${String(requests.list.length).padStart(4, '0')}`;
    return play(response, id, request, answer(request));
  }, fail);

  return {
    url: `${server.url}/v1`,
    requests: requests.list,
    unknown,
    play: (script) => {
      answer = readScript(script, exhausted);
    },
    request: (matches) => requests.first(matches),
    close: () => server.close(),
  };
}

async function play(
  response: ServerResponse,
  id: string,
  request: ChatRequest,
  reply: ChatReply,
): Promise<void> {
  switch (reply.type) {
    case 'held':
      await reply.gate.pass();
      return play(response, id, request, reply.reply);
    case 'error':
      return sendError(response, reply);
    case 'answer':
      return streamAnswer(response, id, request, reply);
  }
}

function sendError(response: ServerResponse, { status, headers, body }: ErrorReply): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (typeof body !== 'string') return sendJson(response, status, body);
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end(body);
}

function fail(response: ServerResponse, error: unknown): void {
  if (error instanceof ConnectionCut || response.destroyed) return;
  if (response.headersSent) response.destroy();
  else sendJson(response, 400, { error: { message: String(error) } });
}
