import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { LiminalError } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { errors } from '../errors.ts';
import { requestError } from './errors.ts';

test.each([
  ['SESSION_NOT_FOUND', -32_002],
  ['BLOB_NOT_FOUND', -32_002],
  ['PROJECT_DIR_NOT_FOUND', -32_002],
  ['PROJECT_DIR_NOT_ALLOWED', -32_602],
  ['BLOB_TYPE_WRONG', -32_602],
  ['CONTENT_NOT_SUPPORTED', -32_602],
  ['INVALID_OPTION', -32_602],
  ['UNSUPPORTED_CLI_TYPE', -32_602],
  ['AUTHENTICATION', -32_000],
  ['QUEUE_FULL', -32_603],
])(
  'an error with the code %s becomes an error with JSON-RPC’s code %i, and its message and Liminal’s code stay',
  (code, number) => {
    const error = requestError(new LiminalError(code, 'It failed.'));
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: number, message: 'It failed.', data: { code } });
  },
);

test('an error of any other class becomes an internal error, and a RequestError stays unchanged', () => {
  const error = requestError(new TypeError('It is undefined.'));
  expect(error).toMatchObject({
    code: -32_603,
    message: 'It is undefined.',
    data: { code: 'INTERNAL' },
  });
  expect(requestError(error)).toBe(error);
});

test('if the parameters of a request are invalid, the error says so', () => {
  expect(requestError(errors.INVALID_PARAMS.emptyPrompt())).toMatchObject({
    code: -32_602,
    message: 'The prompt is empty.',
    data: { code: 'INVALID_PARAMS' },
  });
});
