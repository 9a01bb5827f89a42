import { LiminalError } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { describeError } from './error-answers.ts';

test.each([
  ['SESSION_NOT_FOUND', 404],
  ['UNSUPPORTED_CLI_TYPE', 400],
  ['PROJECT_DIR_NOT_FOUND', 400],
  ['PROJECT_DIR_NOT_ALLOWED', 403],
  ['AGENT_UNAVAILABLE', 503],
  ['PROCESS_CRASH', 502],
  ['QUEUE_FULL', 429],
  ['TOO_MANY_SESSIONS', 429],
  ['APPROVAL_ALREADY_ANSWERED', 409],
  ['SHUTTING_DOWN', 503],
  ['STORE_READ_FAILED', 503],
])('an error with the code %s is answered with %d and its own message', (code, status) => {
  expect(describeError(new LiminalError(code, 'The sentence.'))).toEqual({
    status,
    body: { error: { code, message: 'The sentence.' } },
  });
});

test.each([
  new Error('secret: /home/somebody'),
  new LiminalError('SOMETHING_INTERNAL', 'secret: /home/somebody'),
  new LiminalError('toString', 'secret: /home/somebody'),
  Object.assign(new Error('secret: /home/somebody'), { code: 'ENOENT', statusCode: 404 }),
  'secret',
  undefined,
])('an internal error is answered with 500 INTERNAL and without its message: %s', (error) => {
  const { status, body } = describeError(error);
  expect(status).toBe(500);
  expect(body.error.code).toBe('INTERNAL');
  expect(body.error.message).not.toContain('secret');
});

test.each([
  [400, 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE', 400, 'INVALID_REQUEST'],
  [500, 'FST_ERR_REP_INVALID_PAYLOAD_TYPE', 500, 'INTERNAL'],
])(
  'Fastify’s own error %d (%s) is answered with the status %d and the code %s',
  (statusCode, code, status, own) => {
    const error = Object.assign(new Error('secret: /home/somebody'), { code, statusCode });
    const answer = describeError(error);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status, code: own });
    expect(answer.body.error.message).not.toContain('secret');
  },
);
