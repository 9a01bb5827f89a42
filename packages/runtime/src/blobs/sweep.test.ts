import type { BlobStore } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { sweepUploads } from './sweep.ts';

afterEach(() => vi.useRealTimers());

const [minute, hour] = [60_000, 60 * 60_000];

/** Removes old uploads when the store's clock is at `time`; resolves when this is done. */
async function sweptAt(blobs: BlobStore, time: number): Promise<void> {
  const sweep = vi.spyOn(blobs, 'sweep');
  vi.spyOn(blobs, 'now').mockResolvedValue(time);
  const end = sweepUploads(blobs, (error) => expect.fail(String(error)));
  end();
  await expect.poll(() => sweep.mock.calls.length).toBe(1);
  await sweep.mock.results[0]?.value;
  vi.restoreAllMocks();
}

test('an upload is removed after a day without a message', async () => {
  const { blobs } = openMemoryStorage();
  const { hash } = await blobs.put(Buffer.from('lone'), { mimeType: 'text/plain' });
  for (const age of [0, minute, hour, 23 * hour]) {
    await sweptAt(blobs, Date.now() + age);
    expect(await blobs.get(hash)).toMatchObject({ hash });
  }
  await sweptAt(blobs, Date.now() + 24 * hour + minute);
  expect(await blobs.get(hash)).toBeUndefined();
});

test('SAFE: a server clock that is days ahead or behind changes nothing', async () => {
  const { blobs } = openMemoryStorage();
  const { hash } = await blobs.put(Buffer.from('lone'), { mimeType: 'text/plain' });
  const stored = Date.now();
  for (const days of [-3, 3]) {
    vi.useFakeTimers({ now: stored + days * 24 * hour, toFake: ['Date'] });
    await sweptAt(blobs, stored + minute);
    expect(await blobs.get(hash)).toMatchObject({ hash });
  }
  await sweptAt(blobs, stored + 24 * hour + minute);
  expect(await blobs.get(hash)).toBeUndefined();
});

test('uploads are checked when the server starts, and then every hour until it stops', () => {
  vi.useFakeTimers();
  const { blobs } = openMemoryStorage();
  const sweep = vi.spyOn(blobs, 'now');
  const end = sweepUploads(blobs, (error) => expect.fail(String(error)));
  onTestFinished(end);
  expect(sweep).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2 * hour);
  expect(sweep).toHaveBeenCalledTimes(3);
  end();
  vi.advanceTimersByTime(2 * hour);
  expect(sweep).toHaveBeenCalledTimes(3);
});
