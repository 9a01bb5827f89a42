/** Tests the mark of sessions that finished their work while they were not shown. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { otherSession, shareStage, stage } from './stage.ts';

shareStage(() => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
  stage.others = [otherSession('o1', { state: 'running' })];
});

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Sessions', exact: true });
const mark = (page: Page) => sidebar(page).getByRole('img', { name: 'finished, not seen yet' });

it('a session that finishes while it is not shown is marked until a person opens it, even after a reload', async () => {
  const page = await stage.visit();
  const row = sidebar(page).getByRole('link').filter({ hasText: 'o1' });
  await row.getByRole('img', { name: 'running' }).waitFor();
  expect(await page.title()).not.toContain('✓');
  stage.change(otherSession('o1', { state: 'idle' }));
  await mark(page).waitFor();
  await expect.poll(() => page.title()).toMatch(/^✓ /);
  expect(await page.locator('[data-announcements]').innerText()).toContain('has finished.');
  await page.reload();
  await mark(page).waitFor();
  await row.click();
  await expect.poll(() => mark(page).count()).toBe(0);
  await expect.poll(() => page.title()).not.toMatch(/^✓ /);
});

it('a session that finishes while it is shown is not marked', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  const page = await stage.visit();
  await sidebar(page).getByRole('img', { name: 'running' }).first().waitFor();
  const session = { ...stage.info.session, state: 'idle' as const };
  stage.send({ type: 'sessions:changed', sessions: [session], removed: [] });
  await expect.poll(() => sidebar(page).getByRole('img', { name: 'running' }).count()).toBe(1);
  expect(await mark(page).count()).toBe(0);
});
