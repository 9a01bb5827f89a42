/** Translates the errors of Codex' turns. */
import type { ErrorObject } from '@liminal/protocol';
import { isRecord } from '../../../base/parse-line.ts';
import type { TurnError } from './wire.ts';

const codes: Record<string, string> = {
  contextWindowExceeded: 'CONTEXT_LENGTH',
  sessionBudgetExceeded: 'BUDGET_EXHAUSTED',
  usageLimitExceeded: 'RATE_LIMITED',
  rateLimitExceeded: 'RATE_LIMITED',
  serverOverloaded: 'OVERLOADED',
  flexUnavailable: 'OVERLOADED',
  modelNotFound: 'MODEL_NOT_FOUND',
  unauthorized: 'AUTHENTICATION_FAILED',
  badRequest: 'INVALID_REQUEST',
  cyberPolicy: 'CONTENT_FILTER',
  bioPolicy: 'CONTENT_FILTER',
  misalignmentPolicyViolation: 'CONTENT_FILTER',
  httpConnectionFailed: 'CONNECTION_LOST',
  responseStreamConnectionFailed: 'CONNECTION_LOST',
  responseStreamDisconnected: 'CONNECTION_LOST',
  responseTooManyFailedAttempts: 'CONNECTION_LOST',
};

export function errorOf(error: TurnError | undefined): ErrorObject {
  const info = error?.codexErrorInfo;
  const [name = ''] = typeof info === 'string' ? [info] : isRecord(info) ? Object.keys(info) : [];
  const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
  return { code: code ?? 'AGENT_ERROR', message: sentenceOf(error) };
}

/** Returns the error's sentence. Codex' message may be the JSON answer of the model's API. */
function sentenceOf(error: TurnError | undefined): string {
  const { message = '', additionalDetails } = error ?? {};
  const reported = apiMessageIn(message) ?? message;
  const more = additionalDetails ?? '';
  const sentence = more === '' || reported.includes(more) ? reported : `${reported} (${more})`;
  return sentence === '' ? 'Codex reported an error.' : sentence;
}

function apiMessageIn(message: string): string | undefined {
  if (!message.startsWith('{')) return undefined;
  try {
    const { error } = JSON.parse(message) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}
