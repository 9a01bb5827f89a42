/**
 * Tests keys of the agents' terminals in the message field: Shift+Tab, Enter after a backslash, two presses of Escape.
 */
import type { ConfigOption } from '@liminal/protocol';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { begun, ended, message, turn } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

shareStage(() => {
  stage.info = {
    ...stage.info,
    session: { ...stage.info.session, state: 'idle' },
    configOptions: [model, mode],
  };
  stage.history = {
    entries: [
      message('u1', 'First.', { origin: 'user', turnId: 't1', status: 'complete' }),
      message('a1', 'Yes.', { turnId: 't1', status: 'complete' }),
      message('u2', 'Second.', { origin: 'user', turnId: 't2', status: 'complete' }),
      message('a2', 'No.', { turnId: 't2', status: 'complete' }),
      message('a3', 'It ended.', { turnId: 't3', status: 'complete' }),
    ],
    turns: ['t1', 't2', 't3'].map((id) => turn(id, { status: 'complete', endedAt: 1 })),
    cursor: '',
    hasMore: false,
  };
  stage.answer = (_, path, body) => {
    if (path.endsWith('/config')) {
      const { value = '' } = body as { value?: string };
      stage.sendInfo({ configOptions: [model, { ...mode, currentValue: value }] });
      return {};
    }
    if (path === '/api/agents') {
      const name = { cliType: 'demo', name: 'Demo', description: '', available: true };
      return { agents: [{ ...name, rewindsConversation: true }] };
    }
    if (!path.endsWith('/rewind')) return undefined;
    return {
      files: [],
      insertions: 0,
      deletions: 0,
      takenBack: { turnIds: ['t2', 't3'], message: 'Second.' },
    };
  };
});

const model: ConfigOption = {
  id: 'model',
  name: 'Model',
  category: 'model',
  currentValue: 'one',
  options: ['one', 'two'].map((value) => ({ value, name: value })),
};
const mode: ConfigOption = {
  id: 'mode',
  name: 'Mode',
  category: 'mode',
  currentValue: 'default',
  options: [
    { value: 'default', name: 'Ask first' },
    { value: 'plan', name: 'Plan' },
    { value: 'bypassPermissions', name: 'Allow everything' },
  ],
};

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const isFocused = (page: Page) => field(page).evaluate((e) => e === document.activeElement);
const select = (page: Page) => page.getByRole('combobox', { name: 'Mode', exact: true });
const chosen = (page: Page) => select(page).innerText();
const sent = () =>
  stage.requests.filter(({ path }) => path.endsWith('/config')).map(({ body }) => body);

it('Shift+Tab changes the mode at once, and skips the mode in which the agent never asks', async () => {
  const page = await stage.visitShared();
  await select(page).waitFor();
  await field(page).focus();
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => chosen(page)).toBe('Plan');
  expect(await isFocused(page)).toBe(true);
  await page.getByRole('status').getByText('Mode: Plan').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.getByRole('status').getByText('Mode: Ask first').waitFor();
  await expect.poll(() => chosen(page)).toBe('Ask first');
  await expect.poll(sent).toEqual([
    { id: 'mode', value: 'plan' },
    { id: 'mode', value: 'default' },
  ]);
});

it('Shift+Tab moves the focus out of the field after Escape, and while the focus moves backwards through the page; Tab always moves it', async () => {
  const page = await stage.visitShared();
  await select(page).waitFor();
  await field(page).focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => isFocused(page)).toBe(false);

  await field(page).focus();
  await page.keyboard.press('Tab');
  await expect.poll(() => isFocused(page)).toBe(false);
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => isFocused(page)).toBe(true);
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => isFocused(page)).toBe(false);
  expect(sent()).toEqual([]);

  // After a letter, Shift+Tab changes the mode again.
  await field(page).focus();
  await page.keyboard.press('Escape');
  await page.keyboard.type('a');
  await page.keyboard.press('Shift+Tab');
  await expect.poll(sent).toEqual([{ id: 'mode', value: 'plan' }]);
  expect(await isFocused(page)).toBe(true);
});

it('in a session without modes, the browser handles Shift+Tab', async () => {
  stage.info = { ...stage.info, configOptions: [model] };
  const page = await stage.visitShared();
  await page.getByRole('combobox', { name: 'Model' }).waitFor();
  await field(page).focus();
  await page.keyboard.press('Shift+Tab');
  await expect.poll(() => isFocused(page)).toBe(false);
  expect(sent()).toEqual([]);
});

it('Enter after a backslash begins a new line; in an empty field, Enter changes nothing', async () => {
  const page = await stage.visitShared();
  await field(page).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('One\\');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  await expect.poll(() => field(page).inputValue()).toBe('One\ntwo');
  await page.keyboard.press('Enter');
  const path = `/api/session/${sessionId}/send`;
  const messages = () => stage.requests.filter((one) => one.path === path).map(({ body }) => body);
  await expect.poll(messages).toMatchObject([{ message: 'One\ntwo' }]);
});

/** Presses Escape twice at once, because on a busy machine two presses of Playwright are too far apart. */
const pressEscapeTwice = (page: Page) =>
  field(page).evaluate((element) => {
    for (let press = 0; press < 2; press += 1) {
      const escape = { key: 'Escape', code: 'Escape', bubbles: true, cancelable: true };
      element.dispatchEvent(new KeyboardEvent('keydown', escape));
    }
  });

it('two presses of Escape in an empty field ask whether to take the last message back', async () => {
  const page = await stage.visitShared();
  const dialog = page.getByRole('dialog', { name: 'Edit and send again' });
  await page.getByRole('button', { name: 'Edit and send again' }).first().waitFor();
  await field(page).fill('Wait');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await field(page).fill('');
  expect(await dialog.count()).toBe(0);
  await pressEscapeTwice(page);
  await dialog.getByText('This turn and 1 later one are taken back').waitFor();
  const asked = stage.requests.filter(({ path }) => path.endsWith('/rewind'));
  expect(asked).toMatchObject([{ body: { turnId: 't2', scope: 'conversation', dryRun: true } }]);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.count()).toBe(0);
});

it('while a turn runs, two presses of Escape stop it and take nothing back', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = begun('Go');
  const page = await stage.visitShared();
  await page.getByRole('button', { name: 'Stop' }).first().waitFor();
  await field(page).focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  const stops = () => stage.requests.filter(({ path }) => path.endsWith('/cancel')).length;
  await expect.poll(stops).toBeGreaterThan(0);
  expect(stage.requests.filter(({ path }) => path.endsWith('/rewind'))).toEqual([]);
});

it('the Escape that stops a turn and the next Escape do not take a message back', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = begun('Go');
  const page = await stage.visitShared();
  const stop = page.getByRole('button', { name: 'Stop' }).first();
  await stop.waitFor();
  await field(page).focus();
  await page.keyboard.press('Escape');
  stage.send(ended('t1'));
  await stop.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit and send again' }).first().waitFor();
  expect(await page.getByRole('dialog', { name: 'Edit and send again' }).count()).toBe(0);
});
