import { isRecord } from '../../base/parse-line.ts';
import { ModelError } from './model-error.ts';
import { fetchWithoutTimeout } from './fetch-without-timeout.ts';

/** The address returns a web page, for example of a gateway's sign-in or of another program. */
export class PageError extends ModelError {
  constructor(address: string) {
    const { origin, pathname } = new URL(address);
    super(
      'MODEL_ERROR',
      `${origin}${pathname} answers with a web page, not as a model’s server. Check the base URL.`,
    );
  }
}

/**
 * Makes a request as `fetchWithoutTimeout` does, and checks responses with status 200. A response with a JSON error
 * gets the error's status, so that the maker's SDK throws the error. A web page throws PageError.
 * @param unnamed - Returns the status for an error that names no status. Default: the response's status.
 * @throws PageError for a web page, and the errors of `fetchWithoutTimeout`.
 */
export async function modelFetch(
  input: string | URL | Request,
  init?: RequestInit,
  unnamed?: (error: Record<string, unknown>) => number,
): Promise<Response> {
  const response = await fetchWithoutTimeout(input, init);
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || response.body === null || /event-stream/i.test(type)) return response;
  const address = input instanceof Request ? input.url : String(input);
  const { status, headers } = response;
  try {
    const [start, body] = await peek(response.body);
    if (/^text\/html\b/i.test(type) || /^<(!doctype|html|head|body)\b/i.test(start)) {
      await body.cancel();
      throw new PageError(address);
    }
    if (!start.startsWith('{')) return new Response(body, { status, headers });
    const text = await new Response(body).text();
    return new Response(text, { status: statusIn(text, unnamed) ?? status, headers });
  } catch (error) {
    if (error instanceof PageError) throw error;
    // The connection succeeded, so reading the body must fail instead of `fetch`.
    return new Response(failingBody(error), { status, headers });
  }
}

const failingBody = (error: unknown): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (controller) => controller.error(error) });

/** The most pieces of a body that are read to find its beginning. */
const maxPieces = 16;

/** Returns the beginning of a body, without leading white space, and a stream of the whole body. */
async function peek(
  body: ReadableStream<Uint8Array>,
): Promise<[start: string, body: ReadableStream<Uint8Array>]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const read: Uint8Array[] = [];
  let start = '';
  let isEnd = false;
  while (start === '' && !isEnd && read.length < maxPieces) {
    const { value } = await reader.read();
    isEnd = value === undefined;
    if (value !== undefined) read.push(value);
    start += decoder.decode(value, { stream: true }).trimStart();
  }
  const replayed = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of read) controller.enqueue(piece);
      if (isEnd) controller.close();
    },
    pull: async (controller) => {
      const { value } = await reader.read();
      if (value === undefined) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => reader.cancel(reason),
  });
  return [start, replayed];
}

/** Returns the HTTP status of a JSON error; undefined if the text is not a JSON error. */
function statusIn(
  text: string,
  unnamed: ((error: Record<string, unknown>) => number) | undefined,
): number | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(answer) || answer['error'] == null) return undefined;
  const error = isRecord(answer['error']) ? answer['error'] : {};
  const codes = [error['code'], error['status'], answer['code'], answer['status']].map(Number);
  return codes.find((code) => code >= 400 && code <= 599) ?? unnamed?.(error);
}
