import type { Page } from 'playwright-core';

/** Scrolls a docked request to its end, as a person must do before anything can be allowed. */
export async function showAll(page: Page): Promise<void> {
  const dock = page.getByRole('region', { name: 'Waiting for you' });
  const region = dock.getByRole('region', { name: 'What is asked' });
  await region.waitFor();
  const isLeft = () =>
    region.evaluate((element) => {
      const more = element.querySelector<HTMLElement>('[data-unshown="true"]');
      more?.click();
      element.scrollTo({ top: element.scrollHeight });
      return more !== null;
    });
  while (await isLeft());
  await dock.getByRole('button', { name: /^Show (?:all|more)$/ }).waitFor({ state: 'detached' });
}
