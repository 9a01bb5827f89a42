import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begun, message, upsert } from './items.ts';
import { otherSession, shareStage, stage } from './stage.ts';

shareStage(() => {
  stage.history = begun('Hello');
});

const untrusted = { level: 'warning', text: 'This folder is not trusted.' } as const;
const failed = { level: 'warning', text: 'The MCP server “files” failed.' } as const;
const shown = (page: Page) => page.getByRole('list', { name: 'Notices' }).getByRole('listitem');

it('a notice stays above the composer until it is dismissed, by mouse or by keyboard', async () => {
  const page = await stage.visitShared();
  expect(await shown(page).count()).toBe(0);
  stage.sendInfo({ notices: [untrusted, failed, { level: 'info', text: 'Forked.' }] });
  await expect
    .poll(() => shown(page).allInnerTexts())
    .toEqual([untrusted.text, failed.text, 'Forked.']);

  await shown(page).filter({ hasText: 'trusted' }).getByRole('button').click();
  await expect.poll(() => shown(page).count()).toBe(2);
  await shown(page).filter({ hasText: 'Forked' }).getByRole('button').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => shown(page).allInnerTexts()).toEqual([failed.text]);
  const composer = page.getByRole('textbox', { name: 'Message' });
  await composer.and(page.locator(':focus')).waitFor();
});

it('a dismissed notice stays hidden on this device, and is still shown on another device', async () => {
  const page = await stage.visitShared();
  stage.sendInfo({ notices: [untrusted, failed] });
  await shown(page).first().getByRole('button', { name: 'Dismiss' }).click();
  await page.reload();
  await expect.poll(() => shown(page).allInnerTexts()).toEqual([failed.text]);
  const other = await stage.visit();
  await expect.poll(() => shown(other).count()).toBe(2);
});

it('a notice about the agent is dismissed for all of the agent’s sessions, and any other notice only for its session', async () => {
  const about = { level: 'warning', text: 'Unknown setting "x".', about: 'agent' } as const;
  const second = otherSession('other', { cliType: stage.info.session.cliType });
  stage.others = [second];
  const page = await stage.visit();
  stage.sendInfo({ notices: [about, failed] });
  for (const count of [1, 0]) {
    await shown(page).first().getByRole('button', { name: 'Dismiss' }).click();
    await expect.poll(() => shown(page).count()).toBe(count);
  }
  await page.goto(new URL('/session/other', page.url()).href);
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  const rest = { queue: [], configOptions: [], commands: [], notices: [about, failed] };
  const info = { session: second, ...rest };
  await expect
    .poll(() => {
      // Send the notice again and again, because the page may not have subscribed to the session before.
      stage.send({ type: 'session:info', sessionId: 'other', info });
      return shown(page).allInnerTexts();
    })
    .toEqual([failed.text]);
});

testAtLength('on a phone, a notice can be dismissed by touch', async () => {
  const page = await stage.visit({ viewport: { width: 390, height: 740 }, hasTouch: true });
  stage.sendInfo({ notices: [untrusted] });
  const dismiss = shown(page).getByRole('button', { name: 'Dismiss' });
  expect((await dismiss.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  await dismiss.tap();
  await expect.poll(() => shown(page).count()).toBe(0);
});

it('while the agent waits, the reason for the wait is shown instead of “Working”', async () => {
  const page = await stage.visitShared();
  const status = page.getByRole('region', { name: 'Turn' }).getByText('Working');
  await status.waitFor();
  const activity = 'The model is overloaded (529). Trying again in 5 s (attempt 2 of 10).';
  stage.sendInfo({ activity });
  await page.getByText(activity).waitFor();
  await expect.poll(() => status.count()).toBe(0);
  stage.sendInfo({ activity: undefined });
  await status.waitFor();
  stage.send(upsert(message('a', 'Finally.')));
  await page.getByText('Finally.').waitFor();
  expect(await page.getByText(activity).count()).toBe(0);
});
