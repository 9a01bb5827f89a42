/** Explains why a server of OpenAI's APIs gave no answer, with the same error codes for all servers. */
import { headOf } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import type { Complaint } from '../../loop/complaints.ts';
import { lacksTools, ModelError, type ModelErrorCode } from '../../loop/model-error.ts';

/**
 * Reads the body of an error. Known shapes: OpenAI `{error: {message, code, type, param}}`, Ollama `{error: "…"}`,
 * FastAPI `{detail: …}`, vLLM's older `{object: "error", message, …}`, plain text.
 */
export function readComplaint(body: unknown, status?: number): Complaint {
  const error = isRecord(body) ? (body['error'] ?? body['detail'] ?? body) : body;
  const fields = isRecord(error) ? error : {};
  const field = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const message = fields['message'] ?? error;
  const code = fields['code'];
  return {
    status: status === undefined || status < 400 ? (statusIn(code) ?? status) : status,
    words: messageText(message),
    code: field('code'),
    type: field('type'),
    param: field('param'),
    body: typeof body === 'string' ? headOf(body, maxWords) : body,
  };
}

/**
 * Returns the status in an error's code, because some servers send errors with status 200, or in a stream that has
 * begun.
 */
const statusIn = (code: unknown): number | undefined =>
  typeof code === 'number' || (typeof code === 'string' && /^[45]\d\d$/.test(code))
    ? Number(code)
    : undefined;

/** The most characters of a server's message that are used. */
const maxWords = 2_000;

function messageText(message: unknown): string {
  if (message === undefined || message === null) return '';
  const text = typeof message === 'string' ? message.trim() : JSON.stringify(message);
  // An HTML page of a gateway has no useful message.
  if (/^<(!doctype|html)/i.test(text)) return '';
  return headOf(text, maxWords);
}

interface ErrorKind {
  code: ModelErrorCode;
  isPassing?: boolean;
  /** A sentence, or the beginning of a sentence whose end is the server's message. */
  sentence: string;
  /** Advice for the user. */
  advice?: string;
  fits: (complaint: Complaint) => boolean;
}

const has =
  (...names: string[]) =>
  ({ code, type }: Complaint): boolean =>
    names.includes(code) || names.includes(type);

const tooLong =
  /context (length|window|size)|maximum model length|(prompt|input|request) (is |was )?too (long|many tokens)|too many (input )?tokens/i;

const isTooLong = (complaint: Complaint): boolean =>
  has('context_length_exceeded', 'exceed_context_size_error')(complaint) ||
  tooLong.test(complaint.words);

const isUnknownModel = (complaint: Complaint): boolean =>
  has('model_not_found')(complaint) ||
  ([400, 404].includes(complaint.status ?? 404) &&
    /\bmodel\b/i.test(complaint.words) &&
    /not found|(does not|doesn.t) exist|no such model|unknown model|not (been )?loaded/i.test(
      complaint.words,
    ));

/** Ordered by certainty: the first match counts. */
const kinds: ErrorKind[] = [
  {
    code: 'RATE_LIMIT',
    sentence: 'The account of this key has reached its spending limit',
    advice: 'Add credit to it, or use another key.',
    fits: has('insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'),
  },
  {
    code: 'RATE_LIMIT',
    isPassing: true,
    sentence: 'The model’s server accepts no more requests at the moment',
    fits: (complaint) => complaint.status === 429 || has('rate_limit_exceeded')(complaint),
  },
  {
    code: 'CONTEXT_LENGTH',
    sentence: 'The conversation is longer than this model can read',
    fits: isTooLong,
  },
  {
    code: 'CONTENT_FILTER',
    sentence: 'The model’s server refused the request because of its content',
    advice: 'Rephrase the message.',
    fits: (complaint) =>
      has('content_filter', 'content_policy_violation', 'invalid_prompt')(complaint) ||
      /_policy(_violation)?$/.test(complaint.code) ||
      /content management policy/i.test(complaint.words),
  },
  {
    code: 'NO_TOOLS',
    sentence: 'The model does not support tools',
    advice: 'Choose another model.',
    fits: ({ status, words }) => [400, 404, 422].includes(status ?? 0) && lacksTools.test(words),
  },
  {
    code: 'MODEL_NOT_FOUND',
    sentence: 'The server does not have this model',
    advice: 'Choose a model that it lists.',
    fits: isUnknownModel,
  },
  {
    code: 'AUTHENTICATION',
    sentence: 'The model’s server does not accept the key',
    advice: 'Check the key that is configured for this model.',
    fits: (complaint) =>
      [401, 403].includes(complaint.status ?? 0) ||
      has('invalid_api_key', 'authentication_error')(complaint),
  },
  {
    code: 'MODEL_UNAVAILABLE',
    isPassing: true,
    sentence: 'The model’s server cannot answer at the moment',
    fits: (complaint) =>
      ((complaint.status ?? 0) >= 500 && complaint.status !== 501) ||
      complaint.status === 408 ||
      has(
        'server_error',
        'overloaded',
        'overloaded_error',
        'server_is_overloaded',
        'slow_down',
      )(complaint),
  },
  {
    code: 'MODEL_ERROR',
    sentence: 'The server does not know this address',
    advice: 'Check the base URL: for most servers it ends in /v1.',
    fits: ({ status }) => status === 404 || status === 405,
  },
];

const other: Omit<ErrorKind, 'fits'> = {
  code: 'MODEL_ERROR',
  sentence: 'The model’s server rejected the request',
};

/** Returns the error with the server's message. */
export function errorOfComplaint(
  complaint: Complaint,
  options: { headers?: Headers | undefined; cause?: unknown } = {},
): ModelError {
  const {
    code,
    isPassing = false,
    sentence: says,
    advice,
  } = kinds.find(({ fits }) => fits(complaint)) ?? other;
  const { status, words, body } = complaint;
  const reason = words === '' ? (status === undefined ? '' : `status ${status}`) : words;
  const first = reason === '' ? `${says}.` : sentence(`${says}: ${reason}`);
  return new ModelError(code, advice === undefined ? first : `${first} ${advice}`, {
    isPassing,
    retryAfterMs: options.headers && retryAfter(options.headers),
    details: { ...(status !== undefined && { status }), body },
    cause: options.cause,
  });
}

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function retryAfter(headers: Headers): number | undefined {
  const inMs = headers.get('retry-after-ms');
  if (inMs !== null && Number.isFinite(Number(inMs))) return Number(inMs);
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^[\d.]+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined;
}

/** Returns whether a server reports that the endpoint does not exist. A missing model does not count. */
export function lacksEndpoint(complaint: Complaint): boolean {
  if (isUnknownModel(complaint)) return false;
  if ([404, 405, 501].includes(complaint.status ?? 0)) return true;
  return (
    [200, 400].includes(complaint.status ?? 0) &&
    /(unknown|unexpected|unsupported|invalid|no such) (request )?(endpoint|url|path|route)|(endpoint|url|path|route).*(not (found|supported)|unknown)/i.test(
      complaint.words,
    )
  );
}

/** Returns the error for an answer that ended with an error as its reason, but without a message. */
export const endedInError = (): ModelError =>
  new ModelError('MODEL_ERROR', 'The model’s server ended the answer with an error. Ask again.');

/** Returns the error for a stream that ended before its answer was complete. */
export const brokeOff = (cause?: unknown): ModelError =>
  new ModelError('CONNECTION_FAILED', 'The answer broke off before its end.', {
    isPassing: true,
    cause,
  });
