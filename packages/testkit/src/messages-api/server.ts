import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { reply, type Reply } from './reply.ts';
import { parseRequest, type MessagesRequest } from './request.ts';
import { readScript, type Answer, type Script } from './script.ts';
import { ConnectionCut, streamReply } from './stream.ts';
import { sendError, sendJson, sendWhole } from './whole.ts';

export interface MessagesApi {
  /** What `ANTHROPIC_BASE_URL` must be. */
  readonly url: string;
  /** Every request to `/v1/messages` so far, in the order of arrival. */
  readonly requests: MessagesRequest[];
  /** Replaces the script from the next request on. */
  play(script: Script): void;
  /** Resolves with the first request, past or to come, that `matches`. */
  request(matches: (request: MessagesRequest) => boolean): Promise<MessagesRequest>;
  /** Ends the server and every connection that is still open. */
  close(): Promise<void>;
}

/**
 * Starts a scripted Anthropic Messages API on loopback, which the real Claude Code (or any client) can be pointed at
 * without a key or a network. Calls that the client makes for its own purposes are answered sensibly and use nothing of
 * the script.
 */
export async function startMessagesApi(options: { script: Script }): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const waiting = new Set<(request: MessagesRequest) => void>();
  let answer: Answer = readScript(options.script);

  const server = createServer((incoming, response) => {
    handle(incoming, response, requests, (request) => {
      for (const notify of waiting) notify(request);
      return request.kind === 'side' ? answerSideCall(request) : answer(request);
    }).catch((error: unknown) => fail(response, error));
  });
  const url = await listen(server);

  return {
    url,
    requests,
    play: (script) => {
      answer = readScript(script);
    },
    request: (matches) => firstRequest(requests, waiting, matches),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The scripted Messages API has no port.');
  return `http://127.0.0.1:${address.port}`;
}

function firstRequest(
  requests: MessagesRequest[],
  waiting: Set<(request: MessagesRequest) => void>,
  matches: (request: MessagesRequest) => boolean,
): Promise<MessagesRequest> {
  const seen = requests.find(matches);
  if (seen !== undefined) return Promise.resolve(seen);
  return new Promise((resolve) => {
    const notify = (request: MessagesRequest): void => {
      if (!matches(request)) return;
      waiting.delete(notify);
      resolve(request);
    };
    waiting.add(notify);
  });
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  requests: MessagesRequest[],
  answer: Answer,
): Promise<void> {
  const path = incoming.url ?? '/';
  const body = await readBody(incoming);
  if (incoming.method !== 'POST' || !path.startsWith('/v1/messages')) {
    return sendJson(response, 404, {
      type: 'error',
      error: { type: 'not_found_error', message: path },
    });
  }
  const request = parseRequest(path, headersOf(incoming), JSON.parse(body));
  requests.push(request);
  const frame = {
    id: `msg_${String(requests.length).padStart(4, '0')}`,
    model: request.body.model,
  };
  if (path.includes('count_tokens')) return sendJson(response, 200, { input_tokens: 100 });
  await play(response, request, frame, answer(request));
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
    });
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const headersOf = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  );
