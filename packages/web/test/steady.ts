import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';

/**
 * Resolves with a value of the page, for example a scroll position, once the value has stayed the same for ten frames.
 * Scrolling and layout take several frames, and a busy machine draws few frames in a second.
 */
export async function steady<T>(page: Page, read: () => Promise<T>): Promise<T> {
  let before = await read();
  for (;;) {
    await drawFrames(page, 10);
    const now = await read();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

const drawFrames = (page: Page, count: number) =>
  page.evaluate(async (left) => {
    for (let n = 0; n < left; n += 1) await new Promise(requestAnimationFrame);
  }, count);
