import { expect, test } from 'vitest';
import { StorageError } from './errors.ts';

test('SAFE: a storage error hides the secrets of URLs in its message', () => {
  const { message } = new StorageError(
    'DATABASE_UNUSABLE',
    'The Convex deployment http://me:hush@h:1/?key=hush cannot be used: http://me:hush@h:1//api.',
  );
  expect(message).toBe(
    'The Convex deployment http://***@h:1/?key=*** cannot be used: http://***@h:1//api.',
  );
});
