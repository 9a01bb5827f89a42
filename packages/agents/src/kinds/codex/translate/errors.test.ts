import { expect, test } from 'vitest';
import { errorOf } from './errors.ts';

test.each([
  ['contextWindowExceeded', 'CONTEXT_LENGTH'],
  ['sessionBudgetExceeded', 'BUDGET_EXHAUSTED'],
  ['usageLimitExceeded', 'RATE_LIMITED'],
  ['rateLimitExceeded', 'RATE_LIMITED'],
  ['serverOverloaded', 'OVERLOADED'],
  ['flexUnavailable', 'OVERLOADED'],
  ['modelNotFound', 'MODEL_NOT_FOUND'],
  ['unauthorized', 'AUTHENTICATION_FAILED'],
  ['badRequest', 'INVALID_REQUEST'],
  ['cyberPolicy', 'CONTENT_FILTER'],
  ['bioPolicy', 'CONTENT_FILTER'],
  ['misalignmentPolicyViolation', 'CONTENT_FILTER'],
  ['httpConnectionFailed', 'CONNECTION_LOST'],
  ['responseStreamConnectionFailed', 'CONNECTION_LOST'],
  ['responseStreamDisconnected', 'CONNECTION_LOST'],
  ['responseTooManyFailedAttempts', 'CONNECTION_LOST'],
  ['internalServerError', 'AGENT_ERROR'],
  ['sandboxError', 'AGENT_ERROR'],
  ['other', 'AGENT_ERROR'],
])('Codex’ error %s has the code %s, both as a string and with details', (name, code) => {
  const message = 'It broke.';
  for (const codexErrorInfo of [name, { [name]: { httpStatusCode: 500 } }]) {
    expect(errorOf({ message, codexErrorInfo })).toEqual({ code, message });
  }
});

test('an error without a kind, and a missing error, have a code and a sentence', () => {
  expect(errorOf({ message: 'It broke.' })).toEqual({ code: 'AGENT_ERROR', message: 'It broke.' });
  expect(errorOf(undefined)).toMatchObject({
    code: 'AGENT_ERROR',
    message: expect.stringMatching(/./),
  });
});
