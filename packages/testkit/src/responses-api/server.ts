import type { ServerResponse } from 'node:http';
import { ConnectionCut } from '../scripted-server/stream-incident.ts';
import { clientLeaves, sendJson, serveLoopback } from '../scripted-server/loopback.ts';
import { defaultModels, type ScriptedModels, sendModels } from '../scripted-server/models.ts';
import { RecordedRequests } from '../scripted-server/recorded-requests.ts';
import { httpError, type ErrorReply, type ModelReply } from './reply.ts';
import { parseRequest, type ResponsesRequest } from './request.ts';
import { answering, type ModelScript } from './script.ts';
import { streamAnswer, type ResponseFrame } from './stream.ts';

export interface ResponsesApi {
  /** The value for `base_url` (`OPENAI_BASE_URL`). It ends in `/v1`. */
  readonly url: string;
  /** Every request to `/v1/responses` so far, in the order of arrival. */
  readonly requests: ResponsesRequest[];
  /** Replaces the script from the next request on. */
  play(script: ModelScript): void;
  /** Resolves with the first request, past or future, that `matches`. */
  request(matches: (request: ResponsesRequest) => boolean): Promise<ResponsesRequest>;
  /** Ends the server and every open connection. */
  close(): Promise<void>;
}

/**
 * Starts a scripted OpenAI Responses API on loopback, for the real Codex (or any client that streams), without a key
 * and without network access.
 */
export async function startResponsesApi(options: {
  script: ModelScript;
  models?: ScriptedModels;
}): Promise<ResponsesApi> {
  const requests = new RecordedRequests<ResponsesRequest>();
  let answer = answering(options.script);
  const server = await serveLoopback((plain, response) => {
    const route = `${plain.method} ${plain.path.split('?')[0]}`;
    if (route === 'GET /v1/models') {
      sendModels(response, options.models ?? defaultModels);
      return Promise.resolve();
    }
    if (route !== 'POST /v1/responses') {
      sendError(response, httpError(404, `There is no ${plain.method} ${plain.path}.`));
      return Promise.resolve();
    }
    const left = clientLeaves(response);
    const request = parseRequest(plain.path, plain.headers, JSON.parse(plain.body), left);
    requests.add(request);
    const frame = {
      id: `resp_${String(requests.list.length).padStart(4, '0')}`,
      model: request.body.model,
    };
    return play(response, frame, answer(request));
  }, fail);

  return {
    url: `${server.url}/v1`,
    requests: requests.list,
    play: (script) => {
      answer = answering(script);
    },
    request: (matches) => requests.first(matches),
    close: () => server.close(),
  };
}

async function play(
  response: ServerResponse,
  frame: ResponseFrame,
  reply: ModelReply,
): Promise<void> {
  switch (reply.type) {
    case 'held':
      await reply.gate.pass();
      return play(response, frame, reply.reply);
    case 'error':
      return sendError(response, reply);
    case 'answer':
      return streamAnswer(response, frame, reply);
  }
}

function sendError(response: ServerResponse, { status, headers, error }: ErrorReply): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, status, { error });
}

function fail(response: ServerResponse, error: unknown): void {
  if (error instanceof ConnectionCut || response.destroyed) return;
  if (response.headersSent) response.destroy();
  else sendError(response, httpError(400, String(error)));
}
