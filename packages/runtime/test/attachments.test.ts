import { createHash, randomUUID } from 'node:crypto';
import type { ContentBlock } from '@liminal/protocol';
import { StorageError } from '@liminal/storage';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { World } from './harness.ts';
import { Reader, startWorld } from './harness.ts';

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const hash = createHash('sha256').update(pixel).digest('hex');
const inline: ContentBlock = {
  type: 'image',
  mimeType: 'image/png',
  data: pixel.toString('base64'),
};
const named: ContentBlock = { type: 'image', mimeType: 'image/png', uri: `blob:${hash}` };
/** The reference as log and queue have it. */
const kept = { ...named, size: pixel.length };

let world: World;
let sessionId: string;
let reader: Reader;

beforeEach(async () => {
  world = await startWorld();
  const { cliType, projectDir } = { cliType: 'scripted', projectDir: world.projectDir };
  ({ sessionId } = await world.runtime.createSession({ cliType, projectDir }));
  reader = await new Reader(world.runtime, sessionId).untilType('session:info');
});
afterEach(async () => world.end());

const send = async (blocks: ContentBlock[], message = '', turnId?: string) =>
  world.runtime.send(sessionId, message, turnId, { blocks });

const shownBlocks = () =>
  [...reader.items.values()].flatMap((item) => (item.type === 'message' && item.blocks) || []);

const blobsIn = (text: string) => text.match(/blob:[0-9a-f]{64}/g) ?? [];

describe('a message with an image', () => {
  test.each([
    ['in base64', async () => inline],
    [
      'uploaded before',
      async () => {
        const { uri, mimeType } = await world.runtime.putBlob(pixel, 'image/png');
        expect(uri).toBe(`blob:${hash}`);
        return { type: 'image' as const, mimeType, uri };
      },
    ],
  ])(
    '%s reaches the agent with its bytes; log, readers and history have only references',
    async (_, give) => {
      await send([await give()], 'Look at this.');
      world.agent.finish(sessionId);
      await reader.untilTurn('turn_complete');
      expect(world.agent.received).toEqual(['Look at this.']);
      expect(world.agent.attached).toEqual([[{ ...inline, size: pixel.length }]]);
      expect(shownBlocks()).toEqual([kept]);
      const logged = JSON.stringify([...world.medium.acknowledged.values()]);
      expect(blobsIn(logged)).toEqual([`blob:${hash}`]);
      expect(logged).not.toContain(pixel.toString('base64'));
      const { entries } = await world.runtime.history(sessionId);
      expect(blobsIn(JSON.stringify(entries))).toEqual([`blob:${hash}`]);
      expect((await world.runtime.getBlob(hash)).bytes).toEqual(new Uint8Array(pixel));
    },
  );

  test('and no text makes a turn, and its file’s name is the session’s title', async () => {
    await send([{ ...inline, name: 'plan.png' }]);
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete');
    expect((await world.runtime.info(sessionId)).session.title).toBe('plan.png');
  });

  test('keeps the image in the queue and when its text changes, and loses it on request', async () => {
    await world.runtime.send(sessionId, 'first');
    const { turnId } = await send([inline], 'second');
    const queued = async () => (await world.runtime.info(sessionId)).queue.at(-1);
    expect(await queued()).toMatchObject({ message: 'second', blocks: [kept] });
    await world.runtime.editQueued(sessionId, turnId, '');
    expect(await queued()).toMatchObject({ message: '', blocks: [kept] });
    await expect(
      world.runtime.editQueued(sessionId, turnId, '', { blocks: [] }),
    ).rejects.toMatchObject({ code: 'INVALID_BODY' });
    await world.runtime.editQueued(sessionId, turnId, 'second', { blocks: [] });
    expect(await queued()).toMatchObject({ message: 'second', blocks: [] });
  });

  test('that is queued survives a crash, and reaches the agent with its bytes', async () => {
    await world.runtime.send(sessionId, 'first');
    await send([inline], 'second');
    world = await world.restart();
    await world.runtime.loadSession(sessionId);
    await world.runtime.send(sessionId, 'third');
    await expect.poll(() => world.agent.received[0]).toBe('second');
    expect(world.agent.attached[0]).toEqual([{ ...inline, size: pixel.length }]);
  });

  test('is sent once if its request is repeated', async () => {
    const turnId = randomUUID();
    await Promise.all([send([inline], 'Once', turnId), send([inline], 'Once', turnId)]);
    expect(world.agent.received).toEqual(['Once']);
  });
});

describe('a message is rejected and not stored', () => {
  test.each<[string, ContentBlock, string, RegExp]>([
    [
      'whose file is missing',
      { ...named, uri: `blob:${'0'.repeat(64)}` },
      'BLOB_NOT_FOUND',
      /Attach it again/,
    ],
    [
      'whose image is not an image',
      { ...inline, data: 'bm90IGFuIGltYWdl' },
      'BLOB_TYPE_WRONG',
      /not a readable image/,
    ],
    [
      'whose image is of another kind',
      { ...inline, mimeType: 'image/jpeg' },
      'BLOB_TYPE_WRONG',
      /really|is a image\/png/,
    ],
    [
      'whose file is not an image',
      { ...inline, mimeType: 'application/pdf' },
      'BLOB_TYPE_WRONG',
      /Attach it as a file/,
    ],
    ['whose data is not base64', { ...inline, data: '%%%' }, 'BLOB_TYPE_WRONG', /base64/],
    [
      'with an address instead of bytes',
      { ...named, uri: 'https://example.org/a.png' },
      'BLOB_TYPE_WRONG',
      /bytes in base64/,
    ],
    [
      'with content that the agent does not support',
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
      'CONTENT_NOT_SUPPORTED',
      /This agent does not accept such audio/,
    ],
  ])('%s', async (_, block, code, sentence) => {
    await expect(send([block], 'Look')).rejects.toMatchObject({
      code,
      message: expect.stringMatching(sentence),
    });
    expect(world.agent.received).toEqual([]);
    expect((await world.runtime.info(sessionId)).queue).toEqual([]);
  });

  test('whose files together are too large', async () => {
    const bytes = Buffer.alloc(16 * 1024 * 1024, 'a');
    const { uri } = await world.runtime.putBlob(bytes, 'text/plain');
    const block: ContentBlock = { type: 'resource', resource: { uri } };
    await expect(send([block, block])).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
      message: expect.stringMatching(/32 MiB, but the limit is 30/),
    });
  });

  test('whose bytes cannot be stored', async () => {
    const error = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
    vi.spyOn(world.storage.blobs, 'put').mockRejectedValueOnce(error);
    await expect(send([inline])).rejects.toBe(error);
    expect(world.agent.received).toEqual([]);
    await send([inline]);
    expect(world.agent.received).toEqual(['']);
  });
});

describe('an image from an agent', () => {
  const say = (id: string) => {
    world.agent.emit(sessionId, {
      type: 'item_done',
      itemId: id,
      finalItem: { type: 'message', id, content: '', origin: 'agent', blocks: [inline] },
    });
  };

  test('is stored once, before any reader gets it, and is removed with its session', async () => {
    await world.runtime.send(sessionId, 'Draw');
    const put = vi.spyOn(world.storage.blobs, 'put');
    const append = vi.spyOn(world.storage.log, 'append');
    say('a');
    say('b');
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete');
    expect(put).toHaveBeenCalledOnce();
    expect(put.mock.invocationCallOrder[0]).toBeLessThan(append.mock.invocationCallOrder[0]!);
    expect(shownBlocks()).toEqual([kept, kept]);
    expect(await world.storage.blobs.sweep(Date.now() + 60_000)).toBe(0);
    await world.storage.store.deleteSession(sessionId);
    await expect(world.runtime.getBlob(hash)).rejects.toMatchObject({ code: 'BLOB_NOT_FOUND' });
  });

  test('is not lost while the store rejects writes: its event waits', async () => {
    await world.runtime.send(sessionId, 'Draw');
    const error = new StorageError('STORE_WRITE_FAILED', 'The disk is full.');
    const put = vi.spyOn(world.storage.blobs, 'put').mockRejectedValueOnce(error);
    say('a');
    world.agent.finish(sessionId);
    await reader.untilTurn('turn_complete');
    expect(put).toHaveBeenCalledTimes(2);
    expect(shownBlocks()).toEqual([kept]);
    expect((await world.runtime.getBlob(hash)).size).toBe(pixel.length);
  });
});

test('an upload without a message is removed after a day; an upload with a message stays', async () => {
  const lone = await world.runtime.putBlob(Buffer.from('lone'), 'text/plain');
  await world.runtime.putBlob(pixel, 'image/png');
  await send([named], 'Look');
  expect(await world.storage.blobs.sweep(Date.now() + 60_000)).toBe(1);
  await expect(world.runtime.getBlob(lone.uri.slice(5))).rejects.toMatchObject({
    code: 'BLOB_NOT_FOUND',
  });
  expect((await world.runtime.getBlob(hash)).mimeType).toBe('image/png');
});
