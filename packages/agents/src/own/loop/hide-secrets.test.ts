import { expect, test } from 'vitest';
import { secretsOf, withoutSecrets } from './hide-secrets.ts';
import { ModelError } from './model-error.ts';

test('SAFE: a server’s secrets are its key and the values of its headers, with and without a scheme, the longest first', () => {
  const headers = { authorization: 'Bearer hush-1234567', 'x-team': 'hush-12', accept: 'hush-123' };
  expect(secretsOf('key', headers)).toEqual([
    'Bearer hush-1234567',
    'hush-1234567',
    'hush-123',
    'hush-123',
    'key',
  ]);
  // Only a first word is a scheme.
  expect(secretsOf('', { 'x-team': 'name=our team' })).toEqual(['name=our team', 'name=our team']);
  expect(secretsOf()).toEqual([]);
});

test('SAFE: in an error with a secret, a mark replaces each occurrence, and the details are removed', () => {
  const about = { isPassing: true, retryAfterMs: 7, details: { key: 'hush-1' } };
  const error = new ModelError('MODEL_UNAVAILABLE', 'No hush-1: hush-1, hush-2.', about);
  const shown = withoutSecrets(error, ['hush-1', 'hush-2', 'hush-3'], '***');
  expect(shown).toMatchObject({
    code: 'MODEL_UNAVAILABLE',
    message: 'No ***: ***, ***.',
    isPassing: true,
    retryAfterMs: 7,
  });
  expect(shown.details).toBeUndefined();
});

test('an error with a secret only in its details loses the details; an error without a secret does not change', () => {
  const error = new ModelError('MODEL_UNAVAILABLE', 'No.', { details: { key: 'hush-1' } });
  expect(withoutSecrets(error, ['hush-1'], '***').details).toBeUndefined();
  expect(withoutSecrets(error, ['hush-2'], '***')).toBe(error);
});
