import { createHash, randomBytes } from 'node:crypto';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenedDatabase } from '../storage.ts';
import { response, sessionRecord } from './records.ts';
import { amountOf, type Extent, type Setup, type SubjectUnderTest } from './subject.ts';

/** The driver under test, with its blobs. */
export interface BlobSubject extends Pick<OpenedDatabase, 'blobs' | 'store'> {
  /** The total number of bytes of all stored data; absent if the driver cannot count them. */
  size?: () => Promise<number>;
}

const png = { mimeType: 'image/png' };
const mib = 1024 * 1024;
/** The most bytes of a blob. */
const largest = 20 * mib;
const later = () => Date.now() + 60_000;

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Tests the contract of every BlobStore. */
export function blobSuite(setup: Setup<BlobSubject>, extent: Extent = 'whole'): void {
  let under: SubjectUnderTest<BlobSubject>;
  let subject: BlobSubject;
  beforeEach(async () => {
    under = await setup();
    subject = under.subject;
  });
  afterEach(() => under.teardown());

  /** The same subject with its stored data; it is reopened if the driver stores data. */
  async function reopen(): Promise<void> {
    subject = (await under.reopen?.()) ?? subject;
  }

  async function upload(text: string): Promise<string> {
    return (await subject.blobs.put(bytesOf(text), png)).hash;
  }

  const isThere = async (hash: string) => (await subject.blobs.get(hash)) !== undefined;

  /** Puts the bytes, and gets them before and after a restart. */
  async function expectBack(bytes: Uint8Array): Promise<void> {
    const info = { hash: hashOf(bytes), mimeType: 'image/png', size: bytes.length };
    expect(await subject.blobs.put(bytes, png)).toEqual(info);
    for (const _ of ['at once', 'after a restart']) {
      const stored = await subject.blobs.get(info.hash);
      expect(stored).toMatchObject(info);
      expect(stored?.bytes.constructor).toBe(Uint8Array);
      // Compare as buffers, because comparing millions of numbers one by one takes minutes.
      expect(Buffer.compare(stored?.bytes ?? bytesOf('none'), bytes)).toBe(0);
      await reopen();
    }
  }

  describe('bytes', () => {
    test.each([
      ['no bytes', () => new Uint8Array()],
      ['one byte', () => Uint8Array.of(0)],
      ['bytes of all values', () => Uint8Array.from({ length: 256 }, (_, at) => at)],
      ['whole parts', () => new Uint8Array(randomBytes(3 * 128 * 1024))],
      ['5 MiB', () => new Uint8Array(randomBytes(5 * mib))],
    ])('are returned unchanged: %s', async (_, make) => {
      await expectBack(make());
    });

    testAtLength('are returned unchanged: 20 MiB', async () => {
      await expectBack(new Uint8Array(randomBytes(largest)));
    });

    test('that are the same are stored once, with the first media type', async () => {
      const { blobs } = subject;
      const bytes = bytesOf('a picture');
      const info = { hash: hashOf(bytes), mimeType: 'image/png', size: 9 };
      expect(await blobs.put(bytes, png)).toEqual(info);
      const other = { mimeType: 'text/plain' };
      expect(await blobs.put(bytes, other)).toEqual(info);
      expect(await blobs.put(bytes, { ...other, sessionId: 'session-1' })).toEqual(info);
      expect(await blobs.get(info.hash)).toEqual({ ...info, bytes });
      expect(await blobs.sweep(later())).toBe(0);
    });

    test('may have any media type', async () => {
      for (const mimeType of ['', 'text/plain;charset="\u0000\uD800"', 'x'.repeat(1_000)]) {
        const { hash } = await subject.blobs.put(bytesOf(mimeType.slice(0, 20)), { mimeType });
        expect(await subject.blobs.get(hash)).toMatchObject({ mimeType });
      }
    });

    test('do not change if the caller changes its bytes, before or after the write', async () => {
      const mine = bytesOf('mine');
      const { hash } = await subject.blobs.put(mine, png);
      mine.fill(0);
      const given = await subject.blobs.get(hash);
      given?.bytes.fill(0);
      expect(await subject.blobs.get(hash)).toMatchObject({ bytes: bytesOf('mine') });
    });

    test('of a view of a larger buffer are only those of the view', async () => {
      await expectBack(bytesOf('before, the bytes, after').subarray(8, 17));
    });

    test('of a malformed hash are not stored', async () => {
      const { blobs } = subject;
      const stored = await upload('a');
      const none = ['', 'none', '\u0000', '\uD800', stored.toUpperCase(), `${stored}0`, '%'];
      for (const hash of none) expect(await blobs.get(hash)).toBeUndefined();
      expect(await blobs.hold('session-1', none)).toEqual(none);
      expect(await blobs.hold('session-1', [])).toEqual([]);
    });

    test('that are put thousands of times take space once', async () => {
      const { blobs, size } = subject;
      const bytes = new Uint8Array(randomBytes(64 * 1024));
      const { hash } = await blobs.put(bytes, png);
      await blobs.put(bytes, { ...png, sessionId: 'session-0' });
      const before = await size?.();
      const times = atLength ? 10_000 : 200;
      for (let at = 0; at < times; at += 2) {
        await blobs.put(bytes, png);
        await blobs.put(bytes, { ...png, sessionId: `session-${at % 4}` });
      }
      expect(((await size?.()) ?? 0) - (before ?? 0)).toBeLessThan(256 * 1024);
      for (const at of [0, 2]) await subject.store.deleteSession(`session-${at}`);
      expect(await blobs.sweep(later())).toBe(1);
      expect(await isThere(hash)).toBe(false);
    });
  });

  describe('a hold', () => {
    test('is for all or none, and returns the missing hashes in order', async () => {
      const { blobs } = subject;
      const [a, b] = [await upload('a'), await upload('b')];
      const [x, y] = [hashOf(bytesOf('x')), hashOf(bytesOf('y'))];
      expect(await blobs.hold('session-1', [y, a, 'none', x, y, b, 'none'])).toEqual([
        y,
        'none',
        x,
      ]);
      // No blob is held.
      expect(await blobs.sweep(later())).toBe(2);
      const again = [await upload('a'), await upload('b')];
      expect(await blobs.hold('session-1', [...again, ...again])).toEqual([]);
      await reopen();
      expect(await subject.blobs.sweep(later())).toBe(0);
      await subject.store.deleteSession('session-1');
      expect([await isThere(a), await isThere(b)]).toEqual([false, false]);
    });

    test('is made by a put for a session, which need not be stored', async () => {
      const { blobs, store } = subject;
      const { hash } = await blobs.put(bytesOf('a'), { ...png, sessionId: '\u0000 \uD800' });
      await blobs.put(bytesOf('a'), { ...png, sessionId: '\u0000 \uD800' });
      expect(await blobs.sweep(later())).toBe(0);
      await store.deleteSession('\u0000 \uD801');
      expect(await isThere(hash)).toBe(true);
      await store.deleteSession('\u0000 \uD800');
      expect(await isThere(hash)).toBe(false);
    });

    test('ends with its session: blobs with other holders stay until the last holder is deleted', async () => {
      const { blobs } = subject;
      const [own, shared] = [await upload('own'), await upload('shared')];
      await blobs.hold('session-1', [own, shared]);
      await blobs.hold('session-2', [shared]);
      await subject.store.importResponses([
        response('run-1', ['a']),
        response('run-2', ['b'], { sessionId: 'session-2' }),
      ]);
      await subject.store.deleteSession('session-1');
      await reopen();
      expect([await isThere(own), await isThere(shared)]).toEqual([false, true]);
      expect(await subject.store.getResponse('run-1')).toBeUndefined();
      await subject.store.deleteSession('nobody');
      expect(await isThere(shared)).toBe(true);
      await subject.store.deleteSession('session-2');
      expect(await isThere(shared)).toBe(false);
      // The result is the same as if the blobs had never been stored.
      expect(await subject.blobs.hold('session-3', [own, shared])).toEqual([own, shared]);
      await expectBack(bytesOf('own'));
    });

    test('is refused to a deleted session: its later bytes wait as an upload', async () => {
      const { blobs, store } = subject;
      const [late, uploaded] = ['late', 'uploaded'].map(bytesOf);
      await store.saveSession(sessionRecord('session-1'));
      const hash = await upload('uploaded');
      await store.deleteSession('session-1');
      expect(await blobs.hold('session-1', [hash, 'none'])).toEqual(['none']);
      expect(await blobs.hold('session-1', [hash])).toEqual([]);
      await blobs.put(late!, { ...png, sessionId: 'session-1' });
      await reopen();
      expect([await isThere(hash), await isThere(hashOf(late!))]).toEqual([true, true]);
      expect(await subject.blobs.sweep(later())).toBe(2);
      expect(await isThere(hashOf(uploaded!))).toBe(false);
    });

    test('of hundreds of blobs begins and ends in one step', { timeout: 300_000 }, async () => {
      // Long runs use more hashes than Convex accepts in one call.
      const count = atLength ? 1_100 : amountOf(extent, { whole: 300, part: 120 });
      const hashes: string[] = [];
      for (let at = 0; at < count; at++) hashes.push(await upload(`${at}`));
      expect(await subject.blobs.hold('session-1', [...hashes, 'none'])).toEqual(['none']);
      expect(await subject.blobs.hold('session-1', hashes)).toEqual([]);
      expect(await subject.blobs.sweep(later())).toBe(0);
      await subject.store.deleteSession('session-1');
      expect(await subject.blobs.hold('session-1', hashes)).toEqual(hashes);
    });
  });

  describe('an upload', () => {
    test('is swept after waiting too long, unless a session holds it', async () => {
      const { blobs } = subject;
      const [waits, held, put] = [await upload('waits'), await upload('held'), await upload('put')];
      await blobs.hold('session-1', [held]);
      await blobs.put(bytesOf('put'), { ...png, sessionId: 'session-1' });
      expect(await blobs.sweep(Date.now() - 60_000)).toBe(0);
      await reopen();
      expect(await subject.blobs.sweep(later())).toBe(1);
      expect([await isThere(waits), await isThere(held), await isThere(put)]).toEqual([
        false,
        true,
        true,
      ]);
      expect(await subject.blobs.sweep(later())).toBe(0);
    });

    test('that is repeated begins to wait again', async () => {
      const hash = await upload('a');
      const between = await nextMoment();
      await upload('a');
      expect(await subject.blobs.sweep(between)).toBe(0);
      expect(await isThere(hash)).toBe(true);
      expect(await subject.blobs.sweep(later())).toBe(1);
    });

    test('that is repeated while a session holds the blob waits again, also after that session was deleted', async () => {
      const hash = await upload('a');
      await subject.blobs.hold('session-1', [hash]);
      await upload('a');
      await subject.store.deleteSession('session-1');
      expect(await isThere(hash)).toBe(true);
      expect(await subject.blobs.hold('session-2', [hash])).toEqual([]);
      await subject.store.deleteSession('session-2');
      expect(await isThere(hash)).toBe(false);
    });

    test('stays when a session that put the same bytes is deleted', async () => {
      const hash = await upload('a');
      await subject.blobs.put(bytesOf('a'), { ...png, sessionId: 'session-1' });
      await subject.store.deleteSession('session-1');
      expect(await isThere(hash)).toBe(true);
      expect(await subject.blobs.sweep(later())).toBe(1);
      expect(await isThere(hash)).toBe(false);
    });
  });

  describe('concurrently', () => {
    test('many puts of the same bytes are one blob', async () => {
      const { blobs, store } = subject;
      const bytes = new Uint8Array(randomBytes(mib));
      const puts = Array.from({ length: 20 }, async (_, at) =>
        blobs.put(bytes, { mimeType: `image/${at}`, ...(at % 2 === 1 && { sessionId: `${at}` }) }),
      );
      const infos = await Promise.all(puts);
      expect(new Set(infos.map((info) => JSON.stringify(info))).size).toBe(1);
      const stored = await blobs.get(hashOf(bytes));
      expect(stored).toMatchObject(infos[0]!);
      expect(Buffer.compare(stored?.bytes ?? bytes.subarray(1), bytes)).toBe(0);
      for (let at = 1; at < 20; at += 2) await store.deleteSession(`${at}`);
      expect(await blobs.sweep(later())).toBe(1);
    });

    const rounds = atLength ? 100 : amountOf(extent, { whole: 6, part: 4 });
    const sweep = async () => subject.blobs.sweep(later());
    const end = async () => subject.store.deleteSession('last');
    test.each([
      ['a sweep', sweep],
      ['the end of the last holder', end],
      ['both', async () => Promise.all([sweep(), end()])],
    ])('after a hold and %s the blob is held and stored, or missing', async (name, race) => {
      for (let round = 0; round < rounds; round++) {
        const texts = ['a', 'b', 'c'].map((text) => `${text} ${round}`);
        const hashes: string[] = [];
        for (const text of texts) hashes.push(await upload(text));
        if (name !== 'a sweep') await subject.blobs.hold('last', hashes.slice(1));
        const early = round % 2 === 0 ? race() : undefined;
        const holding = subject.blobs.hold('new', hashes.toReversed());
        await Promise.all([holding, early ?? race()]);
        const missing = await holding;
        const there = await Promise.all(hashes.map(isThere));
        const isHeld = missing.length === 0;
        expect(there.every(Boolean) || !isHeld).toBe(true);
        expect(missing.filter((hash) => there[hashes.indexOf(hash)])).toEqual([]);
        for (const id of ['new', 'last']) await subject.store.deleteSession(id);
        await subject.blobs.sweep(later());
        expect(await subject.blobs.hold('new', hashes)).toEqual(hashes);
      }
    });

    test('the end of all holders of a blob removes it', async () => {
      for (let round = 0; round < rounds; round++) {
        const { hash } = await subject.blobs.put(bytesOf('a'), { ...png, sessionId: 's-0' });
        for (const id of ['s-1', 's-2', 's-3']) await subject.blobs.hold(id, [hash]);
        const ids = ['s-0', 's-1', 's-2', 's-3'];
        await Promise.all(ids.map(async (id) => subject.store.deleteSession(id)));
        expect(await isThere(hash)).toBe(false);
      }
    });

    test('if the same bytes are put while their blob is being removed, the blob is stored', async () => {
      // Bytes of two parts.
      const bytes = new Uint8Array(randomBytes(600 * 1024));
      for (let round = 0; round < rounds; round++) {
        const { hash } = await subject.blobs.put(bytes, png);
        const [, read] = await Promise.all([
          subject.blobs.put(bytes, { ...png, sessionId: 'session-1' }),
          subject.blobs.get(hash),
          subject.blobs.sweep(later()),
        ]);
        expect(Buffer.compare(read?.bytes ?? bytes, bytes)).toBe(0);
        expect(await isThere(hash)).toBe(true);
        await subject.store.deleteSession('session-1');
        await subject.blobs.sweep(later());
        expect(await isThere(hash)).toBe(false);
      }
    });
  });
}

/**
 * Waits for the next millisecond. Resolves with a time that is later than all earlier calls and earlier than all later
 * calls.
 */
async function nextMoment(): Promise<number> {
  const before = Date.now();
  while (Date.now() <= before) await new Promise(setImmediate);
  return Date.now();
}
