import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { past } from './controls/scene.ts';
import { phone } from './controls/ways.ts';
import { approval, begun, tool } from './items.ts';
import { openStage, otherSession, stage } from './stage.ts';

openStage(() => {
  stage.history = past;
  stage.others = [otherSession('o1')];
});

const mac = {
  userAgent:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
};
const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const sent = () =>
  stage.requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/load'));

type Init = Record<string, string | number | boolean>;

/**
 * Dispatches a key to the focused element as a keyboard layout or an input method reports the key. Returns whether the
 * page handled the key.
 */
function key(page: Page, event: Init): Promise<boolean> {
  return page.evaluate((init) => {
    const target = document.activeElement ?? document.body;
    const all = { bubbles: true, cancelable: true, ...init };
    return !target.dispatchEvent(new KeyboardEvent('keydown', all));
  }, event);
}

/** Characters that Option types, with their keyboard layouts. */
const optionTexts: [layout: string, code: string, key: string][] = [
  ['German', 'Digit5', '['],
  ['German', 'Digit6', ']'],
  ['German', 'KeyN', 'Dead'],
  ['Italian', 'BracketLeft', '['],
  ['US', 'BracketLeft', '“'],
  ['US', 'KeyW', '∑'],
  ['US', 'KeyJ', '∆'],
];

describe.each([
  ['on a Mac', mac, optionTexts],
  [
    'where Alt types a character',
    {},
    optionTexts.filter(([, code, typed]) => code !== 'BracketLeft' || typed !== '['),
  ],
] as const)('%s', (_, options, texts) => {
  it('while a person types, a key pressed with Option types text', async () => {
    const page = await stage.visit(options);
    await composer(page).focus();
    for (const [layout, code, typed] of texts) {
      const isTaken = await key(page, { code, key: typed, altKey: true });
      expect(isTaken, `${layout}: ${code} types ${typed}`).toBe(false);
    }
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(page.url()).not.toContain('/o1');
  });
});

it('on a Mac, shortcuts with Option work outside of fields, and inside fields only together with Control', async () => {
  const page = await stage.visit(mac);
  await page.getByRole('main').focus();
  expect(await key(page, { code: 'KeyN', key: 'Dead', altKey: true })).toBe(true);
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await composer(page).focus();
  expect(await key(page, { code: 'KeyN', key: 'n', altKey: true, ctrlKey: true })).toBe(true);
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
});

it('on other systems, shortcuts with Alt work inside fields, but not with AltGr', async () => {
  const page = await stage.visit();
  await composer(page).focus();
  const altGr = { code: 'KeyN', key: 'ń', altKey: true, ctrlKey: true, modifierAltGraph: true };
  expect(await key(page, altGr)).toBe(false);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.keyboard.press('Alt+n');
  await page.getByRole('dialog', { name: 'New session' }).waitFor();
});

/**
 * The Enter that ends a word of an input method. Safari reports it after the composition has ended, other browsers
 * during the composition.
 */
const wordEnds: [browser: string, Init][] = [
  ['Safari', { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: false }],
  ['other browsers', { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: true }],
  ['some on Linux', { key: 'Enter', code: 'Enter', keyCode: 13, isComposing: true }],
];

describe.each(wordEnds)('the Enter that ends a word of an input method (%s)', (_, enter) => {
  const end = async (page: Page) => {
    await page.evaluate(() => {
      const target = document.activeElement;
      for (const type of ['compositionstart', 'compositionend']) {
        target?.dispatchEvent(new CompositionEvent(type, { bubbles: true, data: '日本' }));
      }
    });
    expect(await key(page, enter)).toBe(false);
  };

  it('this Enter sends no message, and does not change a queued message', async () => {
    stage.info = {
      ...stage.info,
      queue: [{ turnId: 'q', message: 'Later', queuedAt: '', state: 'queued' }],
    };
    const page = await stage.visit();
    await composer(page).fill('日本');
    await end(page);
    expect(await composer(page).inputValue()).toBe('日本');
    await page.getByRole('button', { name: 'Edit queued message' }).click();
    const edited = page.getByRole('textbox', { name: 'Queued message' });
    await edited.fill('日本');
    await end(page);
    expect(await edited.inputValue()).toBe('日本');
    expect(sent()).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(sent).toMatchObject([{ method: 'PUT', body: { message: '日本' } }]);
    await composer(page).press('Enter');
    await expect.poll(sent).toHaveLength(2);
  });

  it('this Enter chooses no completion, no palette command and no folder', async () => {
    stage.info = { ...stage.info, commands: [{ name: 'compact', description: 'Shorten it' }] };
    stage.answer = (_method, path) =>
      path.startsWith('/api/folders') ? { folders: [{ path: '/code/shop' }] } : undefined;
    const page = await stage.visit();
    await composer(page).pressSequentially('/co');
    await page.getByRole('option', { name: /compact/ }).waitFor();
    await end(page);
    expect(await composer(page).inputValue()).toBe('/co');
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Commands' });
    await palette.getByRole('option').first().waitFor();
    await palette.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await end(page);
    expect(await palette.getByRole('option').count()).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await palette.waitFor({ state: 'detached' });
  });

  it('this Enter does not allow a request', async () => {
    stage.history = begun('Tidy up');
    stage.history.entries.push(
      tool('c1', { toolArguments: { command: 'ls' } }),
      approval('p1', { callId: 'c1', title: 'Run ls' }),
    );
    const page = await stage.visit();
    await page.getByRole('region', { name: 'Waiting for you' }).waitFor();
    await composer(page).focus();
    const isAnswered = () => sent().some(({ path }) => path.includes('/approval/'));
    await end(page);
    // Repeat until a real Enter answers the request, because the request must have been visible long enough.
    await expect
      .poll(async () => {
        await end(page);
        expect(isAnswered()).toBe(false);
        return page
          .getByRole('region', { name: 'Waiting for you' })
          .evaluate(() => performance.now());
      })
      .toBeGreaterThan(1500);
    expect(isAnswered()).toBe(false);
    await expect
      .poll(async () => {
        await page.keyboard.press('Enter');
        return isAnswered();
      })
      .toBe(true);
  });
});

it('on a phone, Enter begins a new line, and the button sends', async () => {
  stage.info = {
    ...stage.info,
    queue: [{ turnId: 'q', message: 'Later', queuedAt: '', state: 'queued' }],
  };
  const page = await stage.visit(phone);
  expect(await composer(page).getAttribute('enterkeyhint')).toBe('enter');
  await composer(page).tap();
  await page.keyboard.type('one');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two');
  expect(await composer(page).inputValue()).toBe('one\ntwo');
  expect(sent()).toEqual([]);
  await page.getByRole('button', { name: 'Send message' }).tap();
  await expect.poll(sent).toMatchObject([{ body: { message: 'one\ntwo' } }]);

  await page.getByRole('button', { name: 'Edit queued message' }).tap();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('and then');
  expect(await page.getByRole('textbox', { name: 'Queued message' }).inputValue()).toBe(
    'Later\nand then',
  );
});

it('on a phone, a new line in the empty field does not allow a request', async () => {
  stage.history = begun('Tidy up');
  stage.history.entries.push(
    tool('c1', { toolArguments: { command: 'ls' } }),
    approval('p1', { callId: 'c1', title: 'Run ls' }),
  );
  const page = await stage.visit(phone);
  const allow = page.getByRole('button', { name: 'Allow', exact: true });
  await allow.waitFor();
  await composer(page).tap();
  await page.keyboard.press('Enter');
  expect(await composer(page).inputValue()).toBe('\n');
  expect(sent()).toEqual([]);
});

it('with a keyboard, Enter sends and Shift+Enter begins a new line', async () => {
  const page = await stage.visit();
  expect(await composer(page).getAttribute('enterkeyhint')).toBe('send');
  await composer(page).pressSequentially('one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('two');
  await page.keyboard.press('Enter');
  await expect.poll(sent).toMatchObject([{ body: { message: 'one\ntwo' } }]);
});
