/** Tests the dialog with the permissions that are granted for a project. */
import type { Grant } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { openStage, otherSession, stage } from './stage.ts';

openStage();

const grantedAt = '2026-01-01T00:00:00.000Z';
let grants: Grant[];
let agent: object;

beforeEach(() => {
  grants = [
    { rule: 'edit:src/', title: 'edits in src/', grantedAt },
    { rule: 'command:npm test', title: 'commands that begin with npm test', grantedAt },
    { rule: 'command:curl', title: 'commands that begin with curl \u202E evil', grantedAt },
  ];
  agent = { cliType: 'demo', name: 'Demo', description: '', available: true, usesGrants: true };
  stage.answer = (_, path, body) => {
    if (path === '/api/agents') return { agents: [agent] };
    if (path === `/api/project/grants?projectId=${encodeURIComponent('/code/shop')}`)
      return { grants };
    if (path === '/api/project/grants/remove') {
      const { rule } = body as Grant;
      grants = grants.filter((one) => one.rule !== rule);
    }
    return undefined;
  };
});

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Always allowed in shop' });
const rows = (page: Page) => dialog(page).getByRole('listitem');
const entry = (page: Page) => page.getByRole('menuitem', { name: 'Always allowed…' });
const sessionMenu = (page: Page) => page.getByRole('button', { name: 'Session', exact: true });
const focused = (page: Page) =>
  page.evaluate(
    () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
  );
const removed = () =>
  stage.requests.flatMap(({ path, body }) => (path === '/api/project/grants/remove' ? body : []));

it('the dialog lists the granted permissions, and one can be revoked by mouse', async () => {
  const page = await stage.visit();
  await sessionMenu(page).click();
  await entry(page).click();
  await expect.poll(() => rows(page).count()).toBe(3);
  const [first = '', , last = ''] = await rows(page).allInnerTexts();
  expect(first).toMatch(/^edits in src\/\nAllowed on .*1.*/);
  expect(last).toContain('U+202E');

  await dialog(page)
    .getByRole('button', { name: 'Revoke: commands that begin with npm test' })
    .click();
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(removed()).toEqual([{ projectId: '/code/shop', rule: 'command:npm test' }]);
  await dialog(page)
    .getByRole('status')
    .getByText('You are asked again: commands that begin with npm test')
    .waitFor({ state: 'attached' });
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await dialog(page).waitFor({ state: 'detached' });
});

it('all granted permissions can be revoked by keys alone, without losing the focus', async () => {
  grants = grants.slice(0, 2);
  const page = await stage.visit();
  await sessionMenu(page).focus();
  await page.keyboard.press('Enter');
  await entry(page).waitFor();
  await page.keyboard.type('Always');
  await page.keyboard.press('Enter');
  await rows(page).first().waitFor();
  expect(await focused(page)).toBe('Done');
  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe('Revoke: commands that begin with npm test');
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Revoke: edits in src/');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('Nothing is always allowed yet.').waitFor();
  await expect.poll(() => focused(page)).toBe('Done');
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe('Session');
});

it('the dialog can be opened from the palette, and from the menu of a row in a phone’s drawer', async () => {
  const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
  stage.others = [otherSession('a', { title: 'Docs' })];
  const page = await stage.visit(phone);
  await page.getByRole('button', { name: 'Sessions', exact: true }).tap();
  const drawer = page.getByRole('dialog', { name: 'Sessions' });
  await drawer.getByRole('button', { name: /Docs/ }).tap();
  await entry(page).tap();
  await dialog(page).getByRole('button', { name: 'Revoke: edits in src/' }).tap();
  await expect.poll(() => rows(page).count()).toBe(2);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await dialog(page).getByRole('button', { name: 'Done' }).tap();
  await page.keyboard.press('Escape');

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search commands and sessions' }).fill('always');
  await page.keyboard.press('Enter');
  await expect.poll(() => rows(page).count()).toBe(2);
});

it('the dialog shows why permissions could not be read or revoked', async () => {
  const page = await stage.visit();
  const problem = { code: 'STORE_WRITE_FAILED', message: 'The disk is full.' };
  stage.refuse = (path) => (path.endsWith('/grants/remove') ? problem : undefined);
  await sessionMenu(page).click();
  await entry(page).click();
  await dialog(page).getByRole('button', { name: 'Revoke: edits in src/' }).click();
  await dialog(page).getByRole('alert').getByText('The disk is full.').waitFor();
  expect(await rows(page).count()).toBe(3);
  await page.keyboard.press('Escape');

  stage.refuse = (path) => (path.startsWith('/api/project/grants') ? problem : undefined);
  await sessionMenu(page).click();
  await entry(page).click();
  await dialog(page).getByRole('alert').getByText('The disk is full.').waitFor();
  expect(await rows(page).count()).toBe(0);
});

it('the dialog is not offered for agents that store permissions themselves', async () => {
  agent = { ...agent, usesGrants: false };
  const page = await stage.visit();
  await sessionMenu(page).click();
  await page.getByRole('menuitem', { name: 'Archive' }).waitFor();
  expect(await entry(page).count()).toBe(0);
});
