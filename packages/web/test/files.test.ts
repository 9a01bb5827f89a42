import { atLength, testAtLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { message, tool, turn, upsert } from './items.ts';
import { shareStage, stage } from './stage.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const text = Array.from({ length: 400 }, (_, index) => `const line${index + 1} = ${index};`).join(
  '\n',
);

shareStage(() => {
  stage.history = { entries: [], turns: [turn('t1')], cursor: 't1:0', hasMore: false };
  const file = { size: text.length, modifiedAt: '2026-01-01T00:00:00.000Z' };
  stage.answer = (_, address) => {
    const url = new URL(address, 'http://stage');
    if (!url.pathname.endsWith('/file')) return undefined;
    const path = url.searchParams.get('path') ?? '';
    const real = path.startsWith('/') ? path : `/code/shop/${path}`;
    if (path.endsWith('.png')) {
      return { kind: 'image', path: real, ...file, mimeType: 'image/png', data: png };
    }
    return { kind: 'text', path: real, ...file, text, isCut: false };
  };
  stage.refuse = (address) =>
    decodeURIComponent(address).includes('path=/etc/')
      ? { code: 'FILE_NOT_ALLOWED', message: '/etc/passwd lies outside the project.' }
      : undefined;
});

const asked = () =>
  stage.requests
    .filter(({ path }) => path.includes('/file?'))
    .map(({ path }) => new URL(path, 'http://stage').searchParams.get('path'));

async function sendMessage(content: string, page: Page) {
  stage.send(upsert(message('a', content, { status: 'complete' })));
  const item = page.locator('[data-item-id="a"]');
  await item.waitFor();
  return item;
}

/** Links to files as answers contain them. Short runs use only a path, and a path with a line. */
const links: [link: string, path: string, marked: string | undefined][] = [
  ['[config](src/config.ts)', 'src/config.ts', undefined],
  ['[config](/abs/path/file.ts:12)', '/abs/path/file.ts', '12-12'],
  ['[config](file.ts#L10-L20)', 'file.ts', '10-20'],
  ['[config](file:///code/shop/a%20b.ts#L300)', '/code/shop/a b.ts', '300-300'],
  ['[config](file.ts:12)', 'file.ts', '12-12'],
];

it.each(atLength ? links : links.slice(0, 2))(
  'the link %s opens the file beside the conversation, which stays visible',
  async (link, path, marked) => {
    const page = await stage.visitShared();
    const item = await sendMessage(`See ${link}.`, page);
    const address = page.url();
    await item.getByRole('button', { name: 'config' }).click();
    const pane = page.getByRole('region', { name: /^File / });
    await pane
      .getByRole('region', { name: 'Content' })
      .getByText('line1 ', { exact: false })
      .first()
      .waitFor();
    expect(asked()).toEqual([path]);
    expect(page.url()).toBe(address);
    expect(page.context().pages()).toHaveLength(1);
    expect(
      await page.getByRole('navigation', { name: 'Open sessions' }).getByRole('link').count(),
    ).toBe(1);
    // The conversation and the file are side by side, and both are wide enough to read.
    const [said, beside] = [await item.boundingBox(), await pane.boundingBox()];
    expect(said!.width).toBeGreaterThan(250);
    expect(said!.x + said!.width).toBeLessThan(beside!.x);
    const mark = pane.locator('[data-marked]');
    await expect.poll(() => mark.count()).toBe(marked === undefined ? 0 : 1);
    if (marked === undefined) return;
    expect(await mark.getAttribute('data-marked')).toBe(marked);
    const isInSight = async () => {
      const [place, frame] = [await mark.boundingBox(), await pane.boundingBox()];
      return place!.y > frame!.y && place!.y + place!.height < frame!.y + frame!.height;
    };
    await expect.poll(isInSight).toBe(true);
  },
);

it('the file pane can be read and closed by keyboard, and the focus then returns', async () => {
  const page = await stage.visitShared();
  const item = await sendMessage('See [config](src/config.ts:3).', page);
  const link = item.getByRole('button', { name: 'config' });
  await link.focus();
  await page.keyboard.press('Enter');
  const pane = page.getByRole('region', { name: 'File src/config.ts:3' });
  await pane.getByText('src/config.ts').waitFor();
  await pane.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Tab');
  await pane.getByRole('button', { name: 'Copy path' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'detached' });
  await link.and(page.locator(':focus')).waitFor();
  // Escape must have closed the file, and must not have stopped the running agent.
  expect(stage.requests.map(({ path }) => path).filter((path) => path.endsWith('/cancel'))).toEqual(
    [],
  );
});

it('if a file may not be shown, the reason is shown, and the path can be copied', async () => {
  const page = await stage.visitShared();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const item = await sendMessage('See [it](/etc/passwd).', page);
  await item.getByRole('button', { name: 'it' }).click();
  const pane = page.getByRole('region', { name: /^File / });
  await pane.getByRole('alert').getByText('/etc/passwd lies outside the project.').waitFor();
  await pane.getByRole('button', { name: 'Copy path' }).last().click();
  await pane.getByRole('button', { name: 'Copied' }).waitFor();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('/etc/passwd');
});

testAtLength('on a phone, the file covers the page, and a tap closes the file', async () => {
  const page = await stage.visit({ viewport: { width: 390, height: 780 }, hasTouch: true });
  const item = await sendMessage('See [config](src/config.ts:3).', page);
  await item.getByRole('button', { name: 'config' }).tap();
  const sheet = page.getByRole('dialog', { name: 'File src/config.ts:3' });
  await sheet.getByText('line3 ', { exact: false }).first().waitFor();
  expect(await sheet.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 780 });
  await sheet.getByRole('button', { name: 'Close file' }).tap();
  await sheet.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
});

it('code is a link if it is the name of a file that a tool has used; other code is not a link', async () => {
  const page = await stage.visitShared();
  const locations = [{ path: '/code/shop/src/config.ts', line: 7 }];
  const item = await sendMessage('Look at `src/config.ts:9`, `npm test` and `src/other.ts`.', page);
  expect(await item.getByRole('button').count()).toBe(0);
  stage.send(
    upsert(tool('call', { toolName: 'Read', kind: 'read', locations, status: 'complete' })),
  );
  await item.getByRole('button', { name: 'src/config.ts:9' }).click();
  await page
    .getByRole('region', { name: 'File src/config.ts:9' })
    .locator('[data-marked="9-9"]')
    .waitFor();
  expect(await item.getByRole('button').count()).toBe(1);

  const card = page.getByRole('group', { name: 'Read src/config.ts:7' });
  await card.getByRole('button').first().click();
  await card.getByRole('button', { name: 'src/config.ts:7', exact: true }).click();
  await page.locator('[data-marked="7-7"]').waitFor();
});

it('an image of the project is shown in the message, and opens beside the conversation', async () => {
  const page = await stage.visitShared();
  const item = await sendMessage('![The page](shots/page.png) and ![gone](/etc/x.png)', page);
  const image = item.getByRole('img', { name: 'The page' });
  await image.waitFor();
  await expect
    .poll(() => image.evaluate((element) => (element as HTMLImageElement).naturalWidth))
    .toBe(1);
  await item.getByRole('button', { name: 'Image: gone' }).waitFor();
  await image.click();
  await page.getByRole('region', { name: 'File shots/page.png' }).getByRole('img').waitFor();
});

it('an image from the web is loaded only on request, in a frame of its own', async () => {
  const page = await stage.visitShared();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  const item = await sendMessage('![Badge](https://img.example/badge.svg?a=1)', page);
  const load = item.getByRole('button', { name: 'Load image from img.example' });
  await load.waitFor();
  expect(requested.filter((url) => url.includes('img.example'))).toEqual([]);
  await load.click();
  const frame = item.locator('iframe[title="Badge"]');
  await frame.waitFor();
  expect(await frame.getAttribute('sandbox')).toBe('');
  await expect
    .poll(() => requested.filter((url) => url.includes('image-frame')))
    .toEqual([expect.stringContaining(encodeURIComponent('https://img.example/badge.svg?a=1'))]);
});

it('while a file is open, all parts of the composer still have room in one row', async () => {
  const option = (id: string, category: string, name: string) => ({
    id,
    name: id,
    category,
    currentValue: name,
    options: [name, 'Other'].map((value) => ({ value, name: value })),
  });
  stage.info = {
    ...stage.info,
    canSteer: true,
    usage: {
      inputTokens: 1,
      outputTokens: 1,
      contextTokens: 150_000,
      contextWindow: 1_000_000,
      costUsd: 12.34,
    },
    configOptions: [
      option('Model', 'model', 'Default (recommended)'),
      option('Permissions', 'mode', 'Edits without asking'),
      option('Thinking', 'thought_level', 'Default'),
    ],
  };
  const page = await stage.visit({ viewport: { width: 1280, height: 720 } });
  const item = await sendMessage('See [config](src/config.ts).', page);
  const parts = page.getByRole('form', { name: 'Composer' }).locator('button, [data-usage]');
  const overlaps = async () => {
    const boxes = await parts.evaluateAll((elements) =>
      elements.map((element) => element.getBoundingClientRect().toJSON() as DOMRect),
    );
    const ends = boxes.toSorted((one, other) => one.left - other.left);
    return ends.filter(({ left }, index) => index > 0 && ends[index - 1]!.right > left).length;
  };
  await expect.poll(() => parts.count()).toBe(8);
  await expect.poll(overlaps).toBe(0);
  await item.getByRole('button', { name: 'config' }).click();
  await page.getByRole('region', { name: /^File / }).waitFor();
  await expect.poll(overlaps).toBe(0);
  // In a bar that becomes narrower, the mode is the last setting that is removed.
  await page.getByRole('combobox', { name: 'Permissions' }).waitFor();
  await page.getByRole('button', { name: 'More settings' }).click();
  await page.getByRole('combobox', { name: 'Model' }).waitFor();
});
