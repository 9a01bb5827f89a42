import { atLength } from '@liminal/testkit/at-length';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone, take, type Way, ways } from './controls/ways.ts';
import { message, turn } from './items.ts';
import { shareStage, sessionId, stage } from './stage.ts';

const project = [
  'src/',
  'src/app.ts',
  'src/cart/Cart.tsx',
  'notes of mine.md',
  'say "hi".ts',
  'app.test.ts',
];

/** Answers as a simple form of the server's search: with the paths that contain the typed text. */
const found = (query: string) =>
  project
    .filter((path) => path.toLowerCase().includes(query.toLowerCase()))
    .map((path) => ({ path, name: path.split('/').findLast((part) => part !== '') }));

shareStage(() => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'idle' } };
  stage.answer = (_, address) => {
    const query = queryOf(address);
    return query === undefined ? undefined : { files: found(query) };
  };
});

function queryOf(address: string): string | undefined {
  const url = new URL(address, 'http://stage');
  if (url.pathname !== '/api/project/files') return undefined;
  expect(url.searchParams.get('projectDir')).toBe('/code/shop');
  return url.searchParams.get('q') ?? '';
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const files = (page: Page) => page.getByRole('listbox', { name: 'Files' });
const option = (page: Page, name: string | RegExp) => files(page).getByRole('option', { name });
const note = (page: Page) => page.getByRole('form', { name: 'Composer' }).getByRole('status');

/** Resolves with the newest message that was sent. */
const sent = () =>
  stage.requests.findLast(({ path }) => path.endsWith('/send'))?.body as
    | { message: string; blocks?: object[] }
    | undefined;

/** The queries that were requested, in their order. */
const asked = () => stage.requests.flatMap(({ path }) => queryOf(path) ?? []);

const link = (path: string, name: string) => ({
  type: 'resource_link',
  uri: `file:///code/shop/${path}`,
  name,
});

async function type(page: Page, text: string): Promise<void> {
  await field(page).focus();
  await page.keyboard.type(text);
}

it.each(atLength ? ways : ways.slice(0, 1))(
  'a file can be chosen by %s, and is sent with the message that mentions the file',
  async (way: Way) => {
    const page = await stage.visit(way === 'touch' ? phone : {});
    await type(page, 'Look at @ca');
    await take(page, option(page, /^Cart\.tsx/), way);
    await expect.poll(() => field(page).inputValue()).toBe('Look at @src/cart/Cart.tsx ');
    await field(page).and(page.locator(':focus')).waitFor();
    await files(page).waitFor({ state: 'detached' });
    await page.keyboard.type('and @not');
    await take(page, option(page, /^notes/), way);
    await page.keyboard.type('please');
    await page.getByRole('button', { name: 'Send message' }).click();
    await expect.poll(sent).toMatchObject({
      message: 'Look at @src/cart/Cart.tsx and @"notes of mine.md" please',
      blocks: [
        link('src/cart/Cart.tsx', 'Cart.tsx'),
        link('notes%20of%20mine.md', 'notes of mine.md'),
      ],
    });
  },
);

it('a file that was not chosen, or is no longer mentioned, is not linked', async () => {
  const page = await stage.visitShared();
  await type(page, '@app.ts');
  await option(page, 'app.ts src/').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('me@app.ts and @someone ');
  await page.keyboard.press('Enter');
  await expect.poll(sent).toMatchObject({ message: 'me@app.ts and @someone' });
  expect(sent()?.blocks ?? []).toEqual([]);
});

it('Tab opens a folder, and Enter chooses it', async () => {
  const page = await stage.visitShared();
  await type(page, '@src');
  await option(page, 'src/').first().waitFor();
  await page.keyboard.press('Tab');
  expect(await field(page).inputValue()).toBe('@src/');
  await expect.poll(() => files(page).getByRole('option').count()).toBe(3);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await field(page).inputValue()).toBe('@src/app.ts ');
  await page.keyboard.type('@src');
  await option(page, 'src/').first().waitFor();
  await page.keyboard.press('Enter');
  expect(await field(page).inputValue()).toBe('@src/app.ts @src/ ');
  await page.keyboard.press('Enter');
  await expect.poll(sent).toMatchObject({
    message: '@src/app.ts @src/',
    blocks: [link('src/app.ts', 'app.ts'), link('src/', 'src')],
  });
});

it('Escape closes the list until another mention begins, and does not stop the agent', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, state: 'running' } };
  stage.history = { entries: [], turns: [turn('t1')], cursor: 't1:0', hasMore: false };
  const page = await stage.visitShared();
  await type(page, '@app');
  await option(page, 'app.ts src/').waitFor();
  await page.keyboard.press('Escape');
  await files(page).waitFor({ state: 'detached' });
  await page.keyboard.type('.');
  await page.keyboard.type(' @');
  await option(page, 'app.ts src/').waitFor();
  expect(await field(page).inputValue()).toBe('@app. @');
  expect(stage.requests.filter(({ path }) => path.endsWith('/cancel'))).toEqual([]);
});

it('if no file is found or the request fails, the list says so, and Enter sends the message', async () => {
  const page = await stage.visitShared();
  await type(page, 'Ask @xyzzy');
  await note(page).getByText('No matching files.').waitFor();
  stage.refuse = (path) =>
    path.includes('q=bro')
      ? { code: 'FILE_UNREADABLE', message: 'It cannot be listed.' }
      : undefined;
  await page.keyboard.type(' or @bro');
  await note(page).getByText('Files cannot be looked up. It cannot be listed.').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(sent).toMatchObject({ message: 'Ask @xyzzy or @bro' });
});

it('a response that arrives after a newer response changes nothing', async () => {
  const held = Promise.withResolvers<void>();
  const answered: string[] = [];
  const { answer } = stage;
  stage.answer = async (method, address, body) => {
    if (queryOf(address) === 'a') await held.promise;
    const given = answer(method, address, body);
    if (queryOf(address) === 'a') answered.push('a');
    return given;
  };
  const page = await stage.visitShared();
  const late = page.waitForResponse((response) => response.url().endsWith('q=a&limit=30'));
  await type(page, '@a');
  await expect.poll(() => stage.requests.some(({ path }) => path.includes('q=a&'))).toBe(true);
  await page.keyboard.type('pp.t');
  await option(page, 'app.test.ts').waitFor();
  const before = await files(page).getByRole('option').allInnerTexts();
  held.resolve();
  await (await late).finished();
  expect(answered).toEqual(['a']);
  expect(await files(page).getByRole('option').allInnerTexts()).toEqual(before);
  expect(before).toHaveLength(2);
});

it('quick typing does not send a request for each letter', async () => {
  const page = await stage.visitShared();
  await type(page, '@');
  await option(page, 'app.test.ts').waitFor();
  await field(page).evaluate((element: HTMLTextAreaElement) => {
    const write = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')!.set!;
    for (const text of ['@a', '@ap', '@app', '@app.', '@app.t', '@app.te']) {
      write.call(element, text);
      element.setSelectionRange(text.length, text.length);
      element.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  await expect.poll(() => files(page).getByRole('option').count()).toBe(1);
  await expect.poll(asked).toEqual(['', 'app.te']);
});

it('when the caret moves into a mention, no list opens until the person types', async () => {
  const page = await stage.visitShared();
  await field(page).fill('@cart please');
  for (let step = 0; step < 'please'.length + 1; step += 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Backspace');
  await option(page, /^Cart\.tsx/).click();
  await expect.poll(() => field(page).inputValue()).toBe('@src/cart/Cart.tsx please');
  expect(asked()).toEqual(['car']);
});

it('after a reload, a draft still has its chosen files', async () => {
  const page = await stage.visitShared();
  await type(page, '@hi');
  await option(page, 'say "hi".ts').click();
  await expect.poll(() => field(page).inputValue()).toBe('@"say \\"hi\\".ts" ');
  // Chosen files are sent even if the server has not reported the session yet.
  stage.sendsInfo = false;
  await page.reload();
  await expect.poll(() => field(page).inputValue()).toBe('@"say \\"hi\\".ts" ');
  await field(page).press('Enter');
  await expect.poll(sent).toMatchObject({ blocks: [link('say%20%22hi%22.ts', 'say "hi".ts')] });
});

it('a mention in the conversation opens its file, and the file is not listed a second time', async () => {
  const blocks = [link('src/app.ts', 'app.ts'), link('src/', 'src'), link('b.ts', 'b.ts')] as never;
  const said = 'Is @src/app.ts right, in @src/?';
  stage.history = {
    entries: [message('u', said, { origin: 'user', status: 'complete', blocks })],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 't1:0',
    hasMore: false,
  };
  stage.answer = (_, address) =>
    address.startsWith(`/api/session/${sessionId}/file?`)
      ? {
          kind: 'text',
          path: '/code/shop/src/app.ts',
          size: 5,
          modifiedAt: '2026-01-01T00:00:00.000Z',
          text: 'apples',
          isCut: false,
        }
      : undefined;
  const page = await stage.visitShared();
  const bubble = page.getByRole('article', { name: 'You' });
  expect(await bubble.getByRole('list', { name: 'Attachments' }).innerText()).toBe('b.ts');
  await bubble.getByRole('button', { name: '@src/app.ts' }).click();
  await page.getByRole('region', { name: 'File src/app.ts' }).getByText('apples').waitFor();
  const files = stage.requests.filter(({ path }) => path.includes('/file?'));
  expect(files.map(({ path }) => path)).toEqual([expect.stringContaining('path=src%2Fapp.ts')]);
});

it('an edited message in the queue has the files that its new text mentions', async () => {
  const image = { type: 'image', mimeType: 'image/png', uri: `blob:${'0'.repeat(64)}` } as const;
  stage.info.queue.push({
    turnId: 't2',
    message: 'Look at @src/app.ts',
    blocks: [image, link('src/app.ts', 'app.ts') as never],
    queuedAt: '2026-01-01T00:00:00.000Z',
    state: 'queued',
  });
  const page = await stage.visitShared();
  await page.getByRole('button', { name: 'Edit queued message' }).click();
  await page.getByRole('textbox', { name: 'Queued message' }).fill('Look at this');
  await page.keyboard.press('Enter');
  const edited = () => stage.requests.find(({ method }) => method === 'PUT')?.body;
  await expect.poll(edited).toEqual({ message: 'Look at this', blocks: [image], runCommand: true });
});
