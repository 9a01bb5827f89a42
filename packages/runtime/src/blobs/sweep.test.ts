import type { BlobStore } from '@liminal/storage';
import { openMemoryStorage } from '@liminal/storage/memory';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { sweepUploads } from './sweep.ts';

afterEach(() => vi.useRealTimers());

const [minute, hour] = [60_000, 60 * 60_000];

/** Sweeps at a time; resolves when the sweep is over. */
async function sweptAt(blobs: BlobStore, time: number): Promise<void> {
  const sweep = vi.spyOn(blobs, 'sweep');
  const end = sweepUploads(
    blobs,
    () => time,
    (error) => expect.fail(String(error)),
  );
  end();
  expect(sweep).toHaveBeenCalledOnce();
  await sweep.mock.results[0]?.value;
  sweep.mockRestore();
}

test('an upload waits a day for its message, and goes after that', async () => {
  const { blobs } = openMemoryStorage();
  const { hash } = await blobs.put(Buffer.from('lone'), { mimeType: 'text/plain' });
  for (const age of [0, minute, hour, 23 * hour]) {
    await sweptAt(blobs, Date.now() + age);
    expect(await blobs.get(hash)).toMatchObject({ hash });
  }
  await sweptAt(blobs, Date.now() + 24 * hour + minute);
  expect(await blobs.get(hash)).toBeUndefined();
});

test('uploads are looked at when the server starts, and each hour until it ends', () => {
  vi.useFakeTimers();
  const { blobs } = openMemoryStorage();
  const sweep = vi.spyOn(blobs, 'sweep');
  const end = sweepUploads(blobs, Date.now, (error) => expect.fail(String(error)));
  onTestFinished(end);
  expect(sweep).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(2 * hour);
  expect(sweep).toHaveBeenCalledTimes(3);
  end();
  vi.advanceTimersByTime(2 * hour);
  expect(sweep).toHaveBeenCalledTimes(3);
});
