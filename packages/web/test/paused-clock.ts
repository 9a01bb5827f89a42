import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/**
 * Stops the page's clock until the end of the test, so that time passes only by `page.clock.runFor`: a busy machine may
 * need seconds between two steps of a test.
 */
export async function pauseClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  // The clock belongs to the browser profile, which later tests use as well.
  onTestFinished(() => page.clock.resume());
}
