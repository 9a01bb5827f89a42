import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenedDatabase } from '../storage.ts';
import type { Setup, SubjectUnderTest } from './subject.ts';

/** What a test of blobs works on. */
export type BlobSubject = Pick<OpenedDatabase, 'blobs' | 'store'>;

const png = { mimeType: 'image/png' };
const later = () => Date.now() + 60_000;

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The contract of every BlobStore. */
export function blobSuite(setup: Setup<BlobSubject>): void {
  let under: SubjectUnderTest<BlobSubject>;
  let subject: BlobSubject;
  beforeEach(async () => {
    under = await setup();
    subject = under.subject;
  });
  afterEach(() => under.teardown());

  describe('blobs', () => {
    test('are given back as they were put, and the same bytes are stored once', async () => {
      const { blobs } = subject;
      const bytes = bytesOf('a picture');
      const info = { hash: hashOf(bytes), mimeType: 'image/png', size: 9 };
      expect(await blobs.put(bytes, png)).toEqual(info);
      expect(await blobs.put(bytes, { mimeType: 'text/plain' })).toEqual(info);
      expect(await blobs.get(info.hash)).toEqual({ ...info, bytes });
      expect(await blobs.get('none')).toBeUndefined();
      expect(await blobs.sweep(later())).toBe(1);
      expect(await blobs.get(info.hash)).toBeUndefined();
    });

    test('are held all or none, and go with their last holder', async () => {
      const { blobs, store } = subject;
      const { hash } = await blobs.put(bytesOf('a'), png);
      expect(await blobs.hold('session-1', [hash, 'none', 'none'])).toEqual(['none']);
      expect(await blobs.hold('session-1', [hash, hash])).toEqual([]);
      await blobs.put(bytesOf('a'), { ...png, sessionId: 'session-2' });
      expect(await blobs.sweep(later())).toBe(0);
      await store.deleteSession('session-1');
      expect(await blobs.get(hash)).toBeDefined();
      await store.deleteSession('session-2');
      expect(await blobs.get(hash)).toBeUndefined();
    });
  });
}
