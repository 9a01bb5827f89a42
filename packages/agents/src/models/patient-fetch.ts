import { type Dispatcher, interceptors, request } from 'undici';
import { proxyingDispatcher } from '../proxy/index.ts';
import { type AnswerBound, boundedAnswer } from './bounded-answer.ts';
import { ModelError } from './model-error.ts';

type Body = Dispatcher.ResponseData['body'];

/**
 * Node's own fetch gives up after five minutes without headers or without another byte; a local server that reads a long
 * conversation, and a model that thinks, are silent for longer. The session's watchdog says how long is too long.
 */
const agent = proxyingDispatcher();
const redirect = interceptors.redirect({ maxRedirections: 20, throwOnMaxRedirect: true });
const decompress = interceptors.decompress({ skipStatusCodes: [], skipErrorResponses: false });
const patience = { headersTimeout: 0, bodyTimeout: 0 };

/** The most bytes, unpacked, of an answer or of one of its events; of a list of models; of an error. */
const [maxAnswer, maxList, maxError] = [32 * 1024 * 1024, 4 * 1024 * 1024, 1024 * 1024];
/** The most bytes, unpacked, of all events of an answer: the longest answers have about 50 MiB. */
const maxEvents = 256 * 1024 * 1024;

/** Statuses of answers that have no body. */
const bodiless = new Set([204, 205, 304]);

/**
 * A `fetch` for the SDK of a model maker. It waits for as long as it must, and sends texts alone; and it takes far less
 * time of the processor than what follows the standard in all, which counts where a model calls many tools. Reading the
 * body rejects with a RangeError if it, or an event of it, is too large.
 * @throws TypeError as `fetch` does, its cause what went wrong; what the signal was aborted with.
 */
export async function patientFetch(
  input: string | URL | Request,
  { method = 'GET', headers, body = null, signal = null }: RequestInit = {},
): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('An address with a name or a password in it cannot be asked.');
  }
  if (body !== null && typeof body !== 'string') throw new TypeError('Only text can be sent.');
  const sent = new Headers(headers);
  sent.set('accept-encoding', 'gzip, deflate');
  const dispatcher = agent.compose(keepingTo(url), redirect, decompress);
  try {
    const asked = {
      dispatcher,
      ...patience,
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
 * Refuses a redirect to another server: it would get the conversation, and the key in a header that only its maker knows, and
 * it may be one that only this machine can reach.
 */
const keepingTo =
  (url: URL): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const to = new URL(options.origin ?? url);
    if (isSameServer(url, to)) return dispatch(options, handler);
    const message = `The server redirects to ${to.origin}, which is another server. If that is right, set it as the address ("baseUrl").`;
    handler.onResponseError?.(undefined as never, new ModelError('MODEL_UNAVAILABLE', message));
    return true;
  };

/** Whether a redirect stays on its server: from http to https on the same host it does. */
export const isSameServer = (from: URL, to: URL): boolean =>
  to.origin === from.origin ||
  (from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname);

/** The longest time that a timer takes, ms: for an SDK's own limit. */
export const longestTimer = 2 ** 31 - 1;

const headersOf = ({ headers }: Dispatcher.ResponseData): [string, string][] =>
  Object.entries(headers).flatMap(([name, said = []]) =>
    [said].flat().map((one): [string, string] => [name, one]),
  );

/** Most servers name the type of a list or of a whole answer; whatever else comes is read as events. */
function boundOf(answer: Dispatcher.ResponseData, method: string): AnswerBound {
  if (answer.statusCode >= 400) return { isEvents: false, most: maxError };
  if (method === 'GET') return { isEvents: false, most: maxList };
  const isJson = /^application\/json\b/.test(String(answer.headers['content-type'] ?? ''));
  return { isEvents: !isJson, most: maxAnswer, mostInAll: maxEvents };
}

function streamOf(
  body: Body,
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

/** The refusal of `patientFetch` itself, such as of a redirect, which the SDKs hide in the causes of their errors. */
export function ownRefusal(thrown: unknown): ModelError | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof ModelError) return error;
  }
  return undefined;
}

const failure = (message: string, cause: unknown, signal: AbortSignal | null): unknown =>
  signal?.aborted === true ? signal.reason : new TypeError(message, { cause });
