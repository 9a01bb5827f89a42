import { type Dispatcher, interceptors, request } from 'undici';
import { proxyingDispatcher } from '../proxy/index.ts';
import { type AnswerBound, boundedAnswer } from './bounded-answer.ts';
import { ModelError } from './model-error.ts';

type ResponseBody = Dispatcher.ResponseData['body'];

/**
 * Node's own fetch fails if for five minutes no headers, or no further bytes, arrive. The silence may be longer while a
 * local server reads a long conversation, or while a model thinks. For models, the session's watchdog limits the
 * silence instead.
 */
const agent = proxyingDispatcher();
const redirect = interceptors.redirect({ maxRedirections: 20, throwOnMaxRedirect: true });
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 };

/** The largest sizes in bytes, unpacked: of an answer or one of its events, of a list of models, and of an error. */
const [maxAnswer, maxList, maxError] = [32 * 1024 * 1024, 4 * 1024 * 1024, 1024 * 1024];
/** The largest size of all events of an answer together, in bytes, unpacked; the longest answers have about 50 MiB. */
const maxEvents = 256 * 1024 * 1024;

/** Statuses of responses without a body. */
const bodiless = new Set([204, 205, 304]);

/**
 * Makes a request as `fetch` does, for a maker's SDK. Waits without a limit, and sends only text. Needs far less
 * processor time than an implementation of the whole fetch standard, which matters if a model calls many tools. Reading
 * the body rejects with a RangeError if the body, or one event in it, is too large.
 * @throws TypeError in the same cases as `fetch`, with the reason as its cause; the signal's reason if it aborts.
 */
export async function fetchWithoutTimeout(
  input: string | URL | Request,
  { method = 'GET', headers, body = null, signal = null }: RequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('An address must not contain a user name or a password.');
  }
  if (body !== null && typeof body !== 'string') throw new TypeError('Only text can be sent.');
  const sent = new Headers(headers);
  sent.set('accept-encoding', 'gzip, deflate');
  const dispatcher = agent.compose(sameServerOnly(url), redirect, decompress);
  try {
    const asked = {
      dispatcher,
      ...noTimeouts,
      method,
      headers: sent,
      body,
      signal,
    };
    const answer = await request(url, asked);
    const { statusCode: status } = answer;
    const init = { status, headers: headersOf(answer) };
    if (!bodiless.has(status)) {
      return new Response(streamOf(answer.body, signal, boundOf(answer, method)), init);
    }
    await answer.body.dump();
    return new Response(null, init);
  } catch (error) {
    throw failure('fetch failed', error, signal);
  }
}

/**
 * Rejects a redirect to another server. The other server would receive the conversation and the key. The key is in a
 * header whose name only the maker's client knows. The other server may also be reachable only from this machine.
 */
const sameServerOnly =
  (url: URL): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const to = new URL(options.origin ?? url);
    if (isSameServer(url, to)) return dispatch(options, handler);
    const message = `The server redirects to ${to.origin}, which is another server. If that is right, set it as the address ("baseUrl").`;
    handler.onResponseError?.(undefined as never, new ModelError('MODEL_UNAVAILABLE', message));
    return true;
  };

/**
 * Returns whether a redirect leads to the same server. A redirect from http to https on the same host leads to the same
 * server.
 */
export const isSameServer = (from: URL, to: URL): boolean =>
  to.origin === from.origin ||
  (from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname);

/** The longest time that a timer supports, in ms; given to an SDK as its own limit. */
export const longestTimer = 2 ** 31 - 1;

const headersOf = ({ headers }: Dispatcher.ResponseData): [string, string][] =>
  Object.entries(headers).flatMap(([name, said = []]) =>
    [said].flat().map((one): [string, string] => [name, one]),
  );

/**
 * Returns the limits for a response. Every response is read as events, except errors, lists, and responses with the
 * content type of JSON.
 */
function boundOf(answer: Dispatcher.ResponseData, method: string): AnswerBound {
  if (answer.statusCode >= 400) return { isEvents: false, most: maxError };
  if (method === 'GET') return { isEvents: false, most: maxList };
  const isJson = /^application\/json\b/.test(String(answer.headers['content-type'] ?? ''));
  return { isEvents: !isJson, most: maxAnswer, mostInAll: maxEvents };
}

function streamOf(
  body: ResponseBody,
  signal: AbortSignal | null,
  bound: AnswerBound,
): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array, undefined> = body[Symbol.asyncIterator]();
  const next = async (): Promise<Uint8Array | undefined> => {
    try {
      return (await pieces.next()).value;
    } catch (error) {
      throw failure('terminated', error, signal);
    }
  };
  return boundedAnswer(next, () => void body.destroy(), bound);
}

/**
 * Returns an error of `fetchWithoutTimeout` itself, for example for a rejected redirect. The SDKs keep an error of
 * `fetch` in the causes of their own errors.
 */
export function ownRefusal(thrown: unknown): ModelError | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof ModelError) return error;
  }
  return undefined;
}

const failure = (message: string, cause: unknown, signal: AbortSignal | null): unknown =>
  signal?.aborted === true ? signal.reason : new TypeError(message, { cause });
