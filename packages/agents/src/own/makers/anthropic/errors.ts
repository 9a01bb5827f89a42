/** Explains to people why a server of the Messages API gave no complete answer. */
import { APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { cutText, headOf, hideUrlSecrets, thrownMessage } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import { ownRefusal } from '../../loop/fetch-without-timeout.ts';
import { refusalOfProxy, throughProxy } from '../../proxy/index.ts';
import type { Refusal } from '../../loop/refusals.ts';
import { lacksTools, ModelError, type ModelErrorCode } from '../../loop/model-error.ts';

/** An error in the API's format, from an error response or within a stream. */
interface ApiFailure {
  /** Undefined for an error within a stream, because the response itself had status 200. */
  status?: number | undefined;
  type?: string | undefined;
  /** The server's own message. */
  message: string;
  errorCode?: string | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

interface ErrorKind {
  code: ModelErrorCode;
  isPassing?: boolean;
  /** The problem and what to do, as a sentence that is shown before the server's message. */
  sentence: string;
}

const context: ErrorKind = {
  code: 'CONTEXT_LENGTH',
  sentence:
    'The conversation is longer than this model can take. Start a new session, or choose a model that takes more.',
};
const access: ErrorKind = {
  code: 'AUTHENTICATION',
  sentence: 'The model server refused the key, or the key may not use this model. Check the key.',
};
const billing: ErrorKind = {
  code: 'AUTHENTICATION',
  sentence: 'The account of this key cannot pay for the request. Check its billing and limits.',
};
const unavailable: ErrorKind = {
  code: 'MODEL_UNAVAILABLE',
  isPassing: true,
  sentence: 'The model server is overloaded or has failed. Try again later.',
};
const rateLimit: ErrorKind = {
  code: 'RATE_LIMIT',
  isPassing: true,
  sentence:
    'The model server accepts no more requests at the moment. Wait, or use another key or model.',
};
const notFound: ErrorKind = {
  code: 'MODEL_NOT_FOUND',
  sentence:
    'The server does not have this model, or nothing is at this address. Check the name of the model and the base URL.',
};
const filtered: ErrorKind = {
  code: 'CONTENT_FILTER',
  sentence: 'The model server’s content filter stopped the answer. Rephrase the message.',
};
const noTools: ErrorKind = {
  code: 'NO_TOOLS',
  sentence: 'The model does not support tools. Choose another model.',
};
const rejected: ErrorKind = {
  code: 'MODEL_ERROR',
  sentence: 'The model server rejected the request.',
};

/** The status of each error type, from the API's reference. */
const statusOfType = new Map(
  Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    conflict_error: 409,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  }),
);

/** Returns the status that belongs to an error's type, for errors without a status. */
export const statusOf = ({ type }: Record<string, unknown>): number =>
  statusOfType.get(asString(type) ?? '') ?? 400;

const kindByStatus: Record<number, ErrorKind> = {
  401: access,
  402: billing,
  403: access,
  404: notFound,
  408: unavailable,
  409: unavailable,
  413: context,
  429: rateLimit,
};

/**
 * For an error without a type and a status: finds the kind of the error by known messages of the API and of local
 * servers.
 */
const kindByText: [RegExp, ErrorKind][] = [
  [lacksTools, noTools],
  [/prompt is too long|max_tokens.{0,3} exceed|context (length|window|size|limit)/i, context],
  [/credit balance|billing/i, billing],
  [/content.?filter|blocked by/i, filtered],
];

/** Returns whether the error reports a spending limit. Waiting does not end such a limit. */
const isSpendLimit = (errorCode: string | undefined): boolean =>
  errorCode?.includes('spend_limit') ?? false;

function errorKindOf({ status, type, message, errorCode }: ApiFailure): ErrorKind {
  const known = status ?? statusOfType.get(type ?? '') ?? 500;
  if (known === 429 && isSpendLimit(errorCode)) return billing;
  const kind = kindByStatus[known];
  if (kind !== undefined) return kind;
  if (known >= 500) return unavailable;
  return kindByText.find(([words]) => words.test(message))?.[1] ?? rejected;
}

function apiError(failure: ApiFailure): ModelError {
  const { code, isPassing, sentence } = errorKindOf(failure);
  const { status, type, errorCode, requestId, retryAfterMs, cause } = failure;
  const details = { status, type, errorCode, requestId };
  const known = Object.entries(details).filter(([, value]) => value !== undefined);
  return new ModelError(code, withServerText(sentence, failure.message), {
    ...(isPassing === true && { isPassing }),
    retryAfterMs,
    details: Object.fromEntries(known),
    cause,
  });
}

/** The most characters of a server's message that are shown: a proxy may send a whole page. */
const maxServerText = 2_000;

function withServerText(sentence: string, serverText: string): string {
  if (serverText === '') return sentence;
  return `${sentence} It says: ${serverText.length > maxServerText ? cutText(serverText, maxServerText) : serverText}`;
}

/** Converts an `error` event of a stream. */
export function streamedError(error: unknown): ModelError {
  const { type, message, details } = isRecord(error) ? error : {};
  return apiError({
    type: asString(type),
    message: asString(message) ?? JSON.stringify(error ?? {}),
    errorCode: isRecord(details) ? asString(details['error_code']) : undefined,
  });
}

/** Returns the error for a conversation that, together with its answer, exceeds the model's context. */
export const contextFull = (): ModelError =>
  new ModelError(
    'CONTEXT_LENGTH',
    withServerText(context.sentence, 'model_context_window_exceeded'),
    {},
  );

/** Returns the error for an answer that ended with an error as its reason, but without a message. */
export const endedInError = (): ModelError =>
  new ModelError('MODEL_ERROR', 'The model server ended the answer with an error. Ask again.');

/** Returns the error for a stream that ended before the answer was complete. */
export const brokenOff = (cause?: unknown): ModelError =>
  new ModelError(
    'CONNECTION_FAILED',
    'The connection to the model server broke off in the middle of the answer. Try again.',
    { isPassing: true, cause },
  );

/** Returns the error for an address that does not return a stream, and so is not the address of a model server. */
export const noStream = (contentType: string): ModelError =>
  new ModelError(
    'MODEL_ERROR',
    `The address did not answer with a stream of the Messages API, but with ${contentType === '' ? 'a response without a type' : contentType}. Check the base URL.`,
  );

/** Converts anything that a request threw: an error of the SDK, the network or this folder's code. */
export function modelErrorOf(thrown: unknown, baseUrl?: string): ModelError {
  const refusal = ownRefusal(thrown);
  if (refusal !== undefined) return refusal;
  if (thrown instanceof APIConnectionTimeoutError) return unreachable(baseUrl, 'no answer', thrown);
  if (isApiError(thrown)) {
    if (thrown.status !== undefined || thrown.type !== null) return responseError(thrown);
    if (thrown.error === undefined) return unreachable(baseUrl, reasonOf(thrown), thrown);
    return streamedError(thrown.error);
  }
  if (isNetworkError(thrown)) return brokenOff(thrown);
  return new ModelError(
    'MODEL_ERROR',
    withServerText(
      'The request to the model server failed, or its answer could not be read.',
      thrownMessage(thrown),
    ),
    { cause: thrown },
  );
}

/** The most characters of a server's message that are read. */
const maxWords = 2_000;

/**
 * Returns the server's refusal, if the server had not begun its answer; undefined if the server could not be reached.
 */
export function refusalIn(thrown: unknown): Refusal | undefined {
  if (!isApiError(thrown) || (thrown.status === undefined && thrown.error === undefined))
    return undefined;
  const { status, type, errorCode, apiMessage, message } = thrown;
  const { code } = modelErrorOf(thrown);
  const complaint = {
    status: status ?? statusOfType.get(type ?? ''),
    words: headOf(apiMessage ?? message, maxWords),
    code: errorCode ?? '',
    type: type ?? '',
    param: '',
    body: thrown.error,
  };
  return { complaint, isUnknown: code === 'MODEL_ERROR' };
}

const isApiError = (thrown: unknown): thrown is APIError => thrown instanceof APIError;

function responseError(error: APIError): ModelError {
  const { status, type, errorCode, requestID, headers, apiMessage } = error;
  return apiError({
    status,
    type: type ?? undefined,
    message: apiMessage ?? error.message,
    errorCode: errorCode ?? undefined,
    requestId: requestID ?? undefined,
    retryAfterMs: retryAfterOf(headers),
    cause: error,
  });
}

function unreachable(baseUrl: string | undefined, detail: string, cause: unknown): ModelError {
  const at = baseUrl === undefined ? '' : ` at ${hideUrlSecrets(baseUrl)}`;
  const through = baseUrl === undefined ? '' : throughProxy(baseUrl);
  const advice = through === '' ? 'that it runs' : 'that it and the proxy run';
  const reason = hideUrlSecrets(refusalOfProxy(cause) ?? detail);
  return new ModelError(
    'CONNECTION_FAILED',
    `The model server${at} could not be reached${through} (${reason}). Check its address, and ${advice}.`,
    { isPassing: true, cause },
  );
}

/** Returns the reason why a connection failed; `fetch` reports the reason only in the causes of its error. */
function reasonOf(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  const code = isRecord(reason) ? asString(reason['code']) : undefined;
  return code ?? thrownMessage(reason);
}

/** Returns whether a response's body broke off: only in that case does `fetch` throw a TypeError with a cause. */
const isNetworkError = (thrown: unknown): boolean =>
  thrown instanceof TypeError && (thrown.cause !== undefined || thrown.message === 'terminated');

function retryAfterOf(headers: Headers | undefined): number | undefined {
  const ms = Number(headers?.get('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const header = headers?.get('retry-after');
  if (header === null || header === undefined || header === '') return undefined;
  const seconds = Number(header);
  const wait = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

const asString = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
