import { testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { openStage, otherSession, sessionId, stage } from './stage.ts';

openStage(() => {
  stage.others = Array.from({ length: 40 }, (_, index) => otherSession(`o${index + 1}`));
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Sessions', exact: true });
const tabs = (page: Page) => page.getByRole('navigation', { name: 'Open sessions' });
const tab = (page: Page, title: string) => tabs(page).getByRole('link', { name: title });
const row = (page: Page, title: string) =>
  sidebar(page).getByRole('link', { name: new RegExp(`${title}( |$)`) });
const path = (page: Page) => new URL(page.url()).pathname;

/** Opens kept tabs by writing them into the browser's storage. */
async function keepTabs(page: Page, ids: readonly string[]): Promise<void> {
  await page.evaluate((all) => localStorage.setItem('liminal.tabs', JSON.stringify(all)), ids);
  await page.reload();
  await page.getByRole('log').waitFor();
}

it('a click previews a session in one tab; after a double click or writing, the tab survives a reload', async () => {
  const page = await stage.visit({}, '/');
  await row(page, 'Session o1').click();
  await tab(page, 'Session o1').waitFor();
  await row(page, 'Session o2').click();
  await tab(page, 'Session o2').waitFor();
  expect(await tabs(page).getByRole('link').count()).toBe(1);
  const title = tab(page, 'Session o2').locator('bdi');
  expect(await title.evaluate((e) => getComputedStyle(e).fontStyle)).toBe('italic');

  await row(page, 'Session o2').dblclick();
  await expect.poll(() => title.evaluate((e) => getComputedStyle(e).fontStyle)).toBe('normal');
  await row(page, 'Session o3').click();
  await page.getByRole('main', { name: 'Session o3' }).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('Do it.');
  await row(page, 'Session o4').click();
  await tab(page, 'Session o4').dblclick();
  await row(page, 'Session o5').click();
  await row(page, 'Session o1').click();
  const names = ['Session o2', 'Session o3', 'Session o4', 'Session o1'];
  await expect.poll(() => tabs(page).locator('bdi').allTextContents()).toEqual(names);

  await page.getByRole('button', { name: 'Commands' }).click();
  await page.getByRole('option', { name: 'Start page' }).click();
  await page.reload();
  await expect.poll(() => tabs(page).locator('bdi').allTextContents()).toEqual(names.slice(0, 3));
});

it('the active tab stays visible when the bar of tabs becomes narrower', async () => {
  const page = await stage.visit();
  await keepTabs(page, ['o1', 'o2', 'o3', 'o4']);
  const active = tabs(page).locator('[data-active="true"]');
  const isInSight = async () => {
    const [shown, bar] = [(await active.boundingBox())!, (await tabs(page).boundingBox())!];
    return shown.x >= bar.x && shown.x + shown.width <= bar.x + bar.width + 1;
  };
  await expect.poll(isInSight).toBe(true);
  // A request in another session shows a button beside the tabs.
  stage.change(otherSession('o7', { state: 'waiting' }));
  await page.getByRole('button', { name: /need(s)? you/ }).waitFor();
  await expect.poll(isInSight).toBe(true);
  await page.setViewportSize({ width: 800, height: 700 });
  await expect.poll(isInSight).toBe(true);
});

it('thirty tabs keep their titles; the bar of tabs scrolls by wheel and keys, and a menu lists all tabs', async () => {
  const page = await stage.visit();
  const ids = Array.from({ length: 30 }, (_, index) => `o${index + 1}`);
  await keepTabs(page, ids);
  await expect.poll(() => tabs(page).getByRole('listitem').count()).toBe(31);
  const widths = await tabs(page)
    .getByRole('listitem')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  expect(Math.min(...widths)).toBeGreaterThanOrEqual(120);
  // A title that is 100 px wide shows about fifteen letters.
  const titles = await tabs(page)
    .locator('li[data-active="false"] bdi')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  expect(Math.min(...titles)).toBeGreaterThanOrEqual(100);

  // The active session is the last in the list.
  const left = () => tabs(page).evaluate((e) => e.scrollLeft);
  await expect.poll(left).toBeGreaterThan(1000);
  await tab(page, 'Fix the login').hover();
  await page.mouse.wheel(0, -700);
  const before = await left();
  expect(before).toBeGreaterThan(0);

  await tab(page, 'Fix the login').focus();
  await page.keyboard.press('Home');
  await expect.poll(left).toBe(0);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Delete');
  await expect.poll(() => tabs(page).getByText('Session o2', { exact: true }).count()).toBe(0);
  await page.getByRole('button', { name: 'All tabs (30)' }).click();
  await page.getByRole('menuitem', { name: 'Session o29' }).click();
  await expect.poll(() => path(page)).toBe('/session/o29');
  await expect
    .poll(async () => (await tab(page, 'Session o29').boundingBox())?.x ?? 9999)
    .toBeLessThan(1000);

  await tab(page, 'Session o29').click({ button: 'middle' });
  await expect.poll(() => tab(page, 'Session o29').count()).toBe(0);
  await page.keyboard.press('Alt+w');
  await page.getByRole('button', { name: 'All tabs (28)' }).click();
  await page.getByRole('menuitem', { name: 'Close all others' }).click();
  await expect.poll(() => tabs(page).getByRole('link').count()).toBe(1);
});

it('another session that waits is shown, is counted in the title, and opens without receiving the focus', async () => {
  const page = await stage.visit();
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.fill('Half a sent');
  // The session reported last is at the top of the list, but has waited for less time.
  stage.change(
    otherSession('o8', { state: 'waiting', title: 'Sooner', waitingSince: '2026-01-01T10:00:01Z' }),
    otherSession('o7', { state: 'waiting', title: 'Later', waitingSince: '2026-01-01T10:00:05Z' }),
  );
  const button = page.getByRole('button', { name: '2 need you: Sooner' });
  await button.waitFor();
  await expect.poll(() => page.title()).toBe('◆ (2) Sooner – Liminal');
  expect(await message.evaluate((e) => e === document.activeElement)).toBe(true);
  await button.click();
  await page.getByRole('main', { name: 'Sooner' }).waitFor();
  await page.getByRole('button', { name: '1 needs you: Later' }).waitFor();
  stage.change(otherSession('o7'));
  await expect.poll(() => page.getByRole('button', { name: /needs? you/ }).count()).toBe(0);
});

testAtLength(
  'on a phone, a waiting session is shown beside the drawer’s button and counted on that button, and the tabs are a menu',
  async () => {
    stage.others[6] = otherSession('o7', { state: 'waiting', title: 'Deploy the shop' });
    const page = await stage.visit(phone);
    await page.getByRole('button', { name: 'Sessions, 1 needs you' }).waitFor();
    await page.getByRole('button', { name: '1 needs you: Deploy the shop' }).tap();
    await page.getByRole('main', { name: 'Deploy the shop' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Yes');
    await page.getByRole('button', { name: 'Sessions', exact: true }).tap();
    await row(page, 'Session o3').tap();
    await page.getByRole('button', { name: /Session o3 ?2 tabs/ }).tap();
    await page.getByRole('menuitem', { name: 'Deploy the shop' }).tap();
    await page.getByRole('main', { name: 'Deploy the shop' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  },
);

it('a collapsed project stays collapsed after a reload; a search opens it', async () => {
  stage.others.push(otherSession('lib1', { projectId: '/code/lib', projectDir: '/code/lib' }));
  const page = await stage.visit();
  const project = sidebar(page).getByRole('button', { name: '/code/lib' });
  await project.click();
  await expect.poll(() => row(page, 'Session lib1').count()).toBe(0);
  await page.reload();
  await project.waitFor();
  expect(await project.getAttribute('aria-expanded')).toBe('false');
  expect(await row(page, 'Session lib1').count()).toBe(0);
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('lib1');
  await row(page, 'Session lib1').waitFor();
});

it('the list of sessions is a single stop of the Tab key, and arrow keys move inside the list', async () => {
  const page = await stage.visit();
  await page.locator(`[data-session-id="${sessionId}"]`).first().waitFor();
  const search = page.getByRole('searchbox', { name: 'Search sessions' });
  await search.focus();
  await page.keyboard.press('Tab');
  const focused = () =>
    page.evaluate(() => document.activeElement?.getAttribute('data-session-id'));
  expect(await focused()).toBe(sessionId);
  await page.keyboard.press('ArrowDown');
  const next = await focused();
  expect(next).not.toBe(sessionId);
  await page.keyboard.press('ArrowUp');
  expect(await focused()).toBe(sessionId);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain(
    'Keyboard shortcuts',
  );
  await page.keyboard.press('Shift+Tab');
  expect(await focused()).toBe(next);
  // Arrow keys must also work while the focus is on the button beside an entry, as after a click.
  const isInRow = () =>
    page.evaluate((id) => {
      const row = document.querySelector(`[data-session-id="${id}"]`)?.parentElement;
      return row?.contains(document.activeElement) === true;
    }, next);
  await page.locator(`[data-session-id="${next}"] + button`).click();
  await page.getByRole('menu').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('menu').count()).toBe(0);
  await expect.poll(isInRow).toBe(true);
  await page.keyboard.press('ArrowUp');
  expect(await focused()).toBe(sessionId);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => path(page)).toBe(`/session/${next}`);
});
