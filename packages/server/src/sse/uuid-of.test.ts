import { expect, test } from 'vitest';
import { uuidOf } from './uuid-of.ts';

const isUuid = '5f0c6a52-6b1f-4d5e-9a35-0d1f7b8f4a11';

test('a UUID is returned unchanged; an id that is not a UUID becomes a UUID of version 5', () => {
  expect(uuidOf(isUuid)).toBe(isUuid);
  expect(uuidOf(`${isUuid}:4`)).toBe('e799e0d1-a46b-537d-bacc-0ce3c094402e');
  expect(uuidOf('Grüße')).toBe('8943bd18-cc85-5bb3-ac94-4fd33d3892cf');
});
