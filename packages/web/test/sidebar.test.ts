import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { phone, press, type Way } from './controls/ways.ts';
import { openStage, otherSession, stage } from './stage.ts';

openStage();

const sidebar = (page: Page) => page.getByRole('navigation', { name: 'Sessions', exact: true });
const edge = (page: Page) => page.getByRole('separator', { name: 'Width of the sidebar' });
const rows = (page: Page) => sidebar(page).getByRole('link');
const width = async (page: Page) => (await sidebar(page).boundingBox())?.width;
const many = (length: number) => Array.from({ length }, (_, index) => otherSession(`o${index}`));
const ways: Way[] = ['mouse', 'keyboard', 'touch'];

/** Opens the page with the sidebar visible. On a phone, the sidebar is a drawer, which is opened. */
async function visit(way: Way, path?: string): Promise<Page> {
  const page = await stage.visit(way === 'touch' ? phone : {}, path);
  if (way === 'touch') await page.getByRole('button', { name: /^Sessions/ }).tap();
  await rows(page).first().waitFor();
  return page;
}

it('wherever the home folder is, a folder below the home folder of the server’s user is shown with ~', async () => {
  const { session } = stage.info;
  const homeDir = '/srv/people/ann';
  const projectDir = `${homeDir}/code/shop`;
  const project = { projectId: projectDir, projectDir, homeDir, name: 'shop' };
  const sessions = [{ ...session, projectId: projectDir, projectDir, state: 'idle' as const }];
  stage.answer = (_, path) =>
    path === '/api/projects' ? { projects: [{ ...project, sessions }] } : undefined;
  const page = await stage.visit();
  await sidebar(page).getByRole('button', { name: '~/code/shop' }).waitFor();
});

it('after a reload, the sidebar still has the width to which it was dragged', async () => {
  const page = await stage.visit();
  await rows(page).first().waitFor();
  expect(await width(page)).toBe(279);
  const { x, y } = (await edge(page).boundingBox())!;
  await page.mouse.move(x + 4, y + 200);
  await page.mouse.down();
  await page.mouse.move(380, 300);
  await page.mouse.up();
  await page.mouse.move(700, 300);
  await expect.poll(() => width(page)).toBe(379);
  await page.reload();
  await rows(page).first().waitFor();
  await expect.poll(() => width(page)).toBe(379);
  await edge(page).dblclick();
  await expect.poll(() => width(page)).toBe(279);
});

it('arrow keys, Home and End set the width of the sidebar', async () => {
  const page = await stage.visit();
  await rows(page).first().waitFor();
  await page.getByRole('button', { name: /^Keyboard shortcuts/ }).focus();
  await page.keyboard.press('Tab');
  await edge(page).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => edge(page).getAttribute('aria-valuenow')).toBe('300');
  await expect.poll(() => width(page)).toBe(299);
  await page.keyboard.press('Home');
  await expect.poll(() => width(page)).toBe(199);
  // At the other end, the sidebar must take half of the window, and no more.
  await page.keyboard.press('End');
  await expect.poll(() => width(page)).toBe(499);
});

it('on a tablet, a finger can drag the edge of the sidebar', async () => {
  const page = await stage.visit({ viewport: { width: 1000, height: 700 }, hasTouch: true });
  await rows(page).first().waitFor();
  const browser = await page.context().newCDPSession(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x?: number) =>
    browser.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: x === undefined ? [] : [{ x, y: 300 }],
    });
  await touch('touchStart', 281);
  await touch('touchMove', 320);
  await touch('touchMove', 360);
  await touch('touchEnd');
  await expect.poll(() => width(page)).toBe(359);
  await browser.detach();
});

it('most of a row is its title; the agent is shown if the sessions have several agents', async () => {
  stage.others = [otherSession('o1')];
  const page = await stage.visit();
  await rows(page).nth(1).waitFor();
  const title = sidebar(page).locator('[data-session-id="o1"] > span').first();
  const share = async () => (await title.boundingBox())!.width;
  expect(await share()).toBeGreaterThan(180);
  expect(await sidebar(page).locator('[data-agent]').count()).toBe(0);
  stage.change(otherSession('o2', { cliType: 'codex' }));
  await expect.poll(() => sidebar(page).locator('[data-agent]').count()).toBe(3);
});

describe.each(ways)('by %s', (way) => {
  it('a project shows twelve sessions and the active session at first, and then fifty more at a time', async () => {
    stage.others = [...many(70), otherSession('last')];
    const page = await visit(way, '/session/last');
    // The stage lists its own session first.
    await expect.poll(() => rows(page).count()).toBe(13);
    await sidebar(page).getByRole('link', { name: 'Session last' }).waitFor();
    await press(page, sidebar(page).getByRole('button', { name: 'Show 50 more' }), way);
    await expect.poll(() => rows(page).count()).toBe(63);
    await press(page, sidebar(page).getByRole('button', { name: 'Show 9 more' }), way);
    await expect.poll(() => rows(page).count()).toBe(72);
    await press(page, sidebar(page).getByRole('button', { name: 'Show fewer' }), way);
    await expect.poll(() => rows(page).count()).toBe(13);
  });

  it('sessions without messages share a line, unless they are open', async () => {
    const empty = (id: string) => otherSession(id, { empty: true, title: 'New session in shop' });
    stage.others = [empty('e1'), empty('e2'), empty('e3'), otherSession('o1')];
    const page = await visit(way, '/session/e3');
    await expect.poll(() => rows(page).count()).toBe(3);
    const line = sidebar(page).getByRole('button', { name: '2 empty sessions' });
    await press(page, line, way);
    await expect.poll(() => rows(page).count()).toBe(5);
    await press(page, line, way);
    await expect.poll(() => rows(page).count()).toBe(3);
    stage.change(otherSession('e1', { title: 'Fix the cart' }));
    await sidebar(page).getByRole('link', { name: 'Fix the cart' }).waitFor();
    await sidebar(page).getByRole('button', { name: '1 empty session', exact: true }).waitFor();
  });
});

it('fifteen sessions are all shown without a click, because only three would be hidden', async () => {
  stage.others = many(14);
  const page = await visit('mouse');
  await expect.poll(() => rows(page).count()).toBe(15);
  expect(await sidebar(page).getByRole('button', { name: /more/ }).count()).toBe(0);
});
