import { testAtLength } from '@liminal/testkit/at-length';
import { type ContentBlock, mentionLink } from '@liminal/protocol';
import type { Locator, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { phone } from './controls/ways.ts';
import { message, turn, upsert } from './items.ts';
import { png } from './png.ts';
import { storedKeys } from './stored-keys.ts';
import { shareStage, sessionId, stage } from './stage.ts';
import { steady } from './steady.ts';

const accepts = { image: ['image/png', 'image/jpeg'], audio: [], resource: ['text/*'] };

shareStage(() => {
  stage.info = { ...stage.info, accepts };
  stage.answer = (_, path) =>
    path.endsWith('/send') ? { turnId: 't2', queued: false } : undefined;
});

interface Picked {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

const screen: Picked = { name: 'screen.png', mimeType: 'image/png', buffer: png(60, 40) };
const notes: Picked = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Ä') };

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const attached = (page: Page) => page.getByRole('list', { name: 'Attached' });
/** Returns the card of a file that has been read. Before a file has been read, it is neither stored nor sent. */
const card = (page: Page, name: string) =>
  attached(page).getByRole('listitem').filter({ hasText: name, hasNotText: 'reading' });
const button = (page: Page | Locator, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const prompts = (page: Page) => page.getByRole('article', { name: 'You' });
const unsent = (page: Page) => page.getByRole('article', { name: 'Unsent message' });

/** Chooses files with the paper clip button. */
async function pick(page: Page, ...files: Picked[]): Promise<void> {
  const choosing = page.waitForEvent('filechooser');
  await button(page, 'Attach files').click();
  await (await choosing).setFiles(files);
}

/** Dispatches a clipboard event or a drag event with files, or with texts by their types. */
async function give(
  page: Page,
  kind: 'paste' | 'dragenter' | 'drop',
  { files = [], texts = {}, at = 'body' }: { files?: Picked[]; texts?: object; at?: string },
): Promise<void> {
  const plain = files.map(({ name, mimeType, buffer }) => ({
    name,
    type: mimeType,
    bytes: [...buffer],
  }));
  const given = { kind, plain, texts, at };
  await page.evaluate(({ kind: name, plain: all, texts: said, at: place }) => {
    const data = new DataTransfer();
    for (const one of all) {
      data.items.add(new File([new Uint8Array(one.bytes)], one.name, { type: one.type }));
    }
    for (const [type, text] of Object.entries(said)) data.setData(type, String(text));
    const init = { bubbles: true, cancelable: true };
    const event =
      name === 'paste'
        ? new ClipboardEvent(name, { ...init, clipboardData: data })
        : new DragEvent(name, { ...init, dataTransfer: data });
    document.querySelector(place)!.dispatchEvent(event);
  }, given);
}

/** Drops a file that is too large to transfer to the page. */
async function dropLarge(page: Page, name: string, size: number): Promise<void> {
  await page.evaluate(
    ([called, bytes]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'.repeat(bytes)], called));
      const drop = { bubbles: true, cancelable: true, dataTransfer };
      document.body.dispatchEvent(new DragEvent('drop', drop));
    },
    [name, size] as const,
  );
}

const composer = '[data-composer]';

interface Sent {
  message: string;
  turnId: string;
  blocks?: ContentBlock[];
}

/** Resolves with the message that the server received. */
async function sent(): Promise<Sent> {
  const bodies = () => stage.requests.filter(({ path }) => path.endsWith('/send'));
  await expect.poll(() => bodies().length).toBe(1);
  return bodies()[0]!.body as Sent;
}

/** Returns the bytes that the server stores under a block's name. */
function stored(block: ContentBlock | undefined): Buffer | undefined {
  const uri = block?.type === 'resource' ? block.resource.uri : block?.uri;
  return stage.blobs.get(uri?.replace('blob:', '') ?? '')?.bytes;
}

/** Returns the width of an image that the page has loaded, in pixels. */
const widthOf = (image: Locator) =>
  image.evaluate((element) => (element as HTMLImageElement).naturalWidth);

declare global {
  interface Window {
    /** The files for which the page has created addresses, by their addresses. */
    held: Map<string, Blob>;
  }
}

/** Opens the session, and records the files behind the addresses that the page creates (`blob:`). */
async function visitAndHold(): Promise<Page> {
  const page = await stage.visit({}, '/');
  await page.addInitScript(() => {
    window.held = new Map();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (file: Blob) => {
      const url = createObjectURL.call(URL, file);
      window.held.set(url, file);
      return url;
    };
    URL.revokeObjectURL = (url) => {
      window.held.delete(url);
      revokeObjectURL.call(URL, url);
    };
  });
  await page.goto(new URL(`/session/${sessionId}`, page.url()).href);
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  return page;
}

/** Returns the bytes of an image on the page. */
async function bytesOf(image: Locator): Promise<Buffer> {
  const bytes = await image.evaluate(async (element) => {
    const file = window.held.get((element as HTMLImageElement).src);
    return [...new Uint8Array(await file!.arrayBuffer())];
  });
  return Buffer.from(bytes);
}

/** Makes an image block as the server stores it. */
function image(rest: { name?: string; bytes?: Buffer } = {}): ContentBlock {
  const { name = 'screen.png', bytes = screen.buffer } = rest;
  const uri = stage.storeBlob(bytes, 'image/png');
  return { type: 'image', mimeType: 'image/png', uri, name, size: bytes.length };
}

/** Makes a conversation whose only message has these blocks. */
function showMessage(content: string, blocks: ContentBlock[]): void {
  stage.history = {
    entries: [message('u', content, { origin: 'user', status: 'complete', blocks })],
    turns: [turn('t1', { status: 'complete', endedAt: 1 })],
    cursor: 't1:0',
    hasMore: false,
  };
}

it('files can be chosen, previewed and sent without text, and are shown and saved byte for byte', async () => {
  const page = await visitAndHold();
  await pick(page, screen, notes);
  await card(page, 'notes.md').getByText('4 bytes').waitFor();
  await button(page, 'Show screen.png').click();
  const view = page.getByRole('dialog', { name: 'screen.png' });
  await expect.poll(() => widthOf(view.getByRole('img'))).toBe(60);
  await page.keyboard.press('Escape');
  await view.waitFor({ state: 'detached' });

  await field(page).press('Enter');
  const { message: words, turnId, blocks = [] } = await sent();
  expect([words, blocks.length]).toEqual(['', 2]);
  expect(blocks[0]).toMatchObject({ type: 'image', mimeType: 'image/png', name: 'screen.png' });
  expect(stored(blocks[0])?.equals(screen.buffer)).toBe(true);
  expect(blocks[1]).toMatchObject({ resource: { mimeType: 'text/markdown', name: 'notes.md' } });
  expect(stored(blocks[1])?.equals(notes.buffer)).toBe(true);
  await attached(page).waitFor({ state: 'detached' });
  await expect.poll(() => storedKeys(page, 'files')).toEqual([]);

  stage.send(
    upsert({ ...message('u', '', { origin: 'user', status: 'complete', blocks }), turnId }),
  );
  const shown = prompts(page).getByRole('img', { name: 'screen.png' });
  await shown.waitFor();
  expect((await bytesOf(shown)).equals(screen.buffer)).toBe(true);
  const saving = page.waitForEvent('download');
  await button(page, /^Download notes.md/).click();
  const saved = await (await saving).createReadStream();
  expect(Buffer.concat(await saved.toArray()).equals(notes.buffer)).toBe(true);
});

it('a sound can be sent if the agent accepts sounds; if the agent’s model then changes to one that does not accept sounds, the reason is shown', async () => {
  stage.info = { ...stage.info, accepts: { ...accepts, audio: ['audio/wav'] } };
  const page = await stage.visit();
  const buffer = Buffer.from('UklGRgD/gApXQVZF', 'base64');
  await pick(page, { name: 'bell.wav', mimeType: 'audio/wav', buffer });
  await card(page, 'bell.wav').getByText('12 bytes').waitFor();
  const send = button(page, 'Send message');
  await expect.poll(() => send.isEnabled()).toBe(true);

  stage.send({ type: 'session:info', sessionId, info: { ...stage.info, accepts } });
  await card(page, 'bell.wav')
    .getByText(/does not accept such audio\. Remove “bell\.wav”/)
    .waitFor();

  stage.send({ type: 'session:info', sessionId, info: stage.info });
  await card(page, 'bell.wav').getByRole('alert').waitFor({ state: 'detached' });
  await send.click();
  const { blocks = [] } = await sent();
  expect(blocks).toMatchObject([{ type: 'audio', mimeType: 'audio/wav', name: 'bell.wav' }]);
  expect(stored(blocks[0])?.equals(buffer)).toBe(true);
});

it('an image can be pasted into the message, or anywhere outside of another field', async () => {
  const page = await stage.visitShared();
  await give(page, 'paste', { files: [screen], at: composer });
  await give(page, 'paste', { files: [{ ...screen, name: 'second.png' }] });
  await card(page, 'second.png').waitFor();
  await give(page, 'paste', { files: [{ ...screen, name: 'search.png' }], at: 'nav input' });
  // Office programs add a picture to a copied text.
  const texts = { 'text/plain': 'a table', 'text/html': '<table></table>' };
  await give(page, 'paste', { files: [{ ...screen, name: 'table.png' }], texts, at: composer });
  await give(page, 'paste', { files: [{ ...screen, name: 'third.png' }], at: composer });
  await card(page, 'third.png').waitFor();
  expect(await attached(page).getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('screen.png'),
    expect.stringContaining('second.png'),
    expect.stringContaining('third.png'),
  ]);
});

it('while files are dragged over the page, the drop target is shown; dropped files are attached', async () => {
  const page = await stage.visitShared();
  const target = page.getByText('Drop files to attach them');
  await give(page, 'dragenter', { texts: { 'text/plain': 'words' } });
  expect(await target.count()).toBe(0);
  await give(page, 'dragenter', { files: [screen], at: '[role="log"]' });
  await target.waitFor();
  await give(page, 'drop', { files: [screen, notes], at: 'header' });
  await card(page, 'notes.md').waitFor();
  await card(page, 'screen.png').waitFor();
  expect(await target.count()).toBe(0);
});

/** Opens the session in a page that reads files only when `read` is called. */
async function visitSlowReader(): Promise<{ page: Page; read: () => Promise<void> }> {
  const page = await stage.visit({}, '/');
  await page.addInitScript(() => {
    const { arrayBuffer } = Blob.prototype;
    const may = new Promise<void>((resolve) => addEventListener('may-read', () => resolve()));
    Blob.prototype.arrayBuffer = async function (this: Blob) {
      await may;
      return arrayBuffer.call(this);
    };
  });
  await page.goto(new URL(`/session/${sessionId}`, page.url()).href);
  const read = async () => page.evaluate(() => void dispatchEvent(new Event('may-read')));
  return { page, read };
}

it('a message that is sent while a file is still being read is sent with the file when the file has been read', async () => {
  const { page, read } = await visitSlowReader();
  await field(page).fill('Read this');
  await pick(page, notes);
  await attached(page).getByText('reading').waitFor();
  await field(page).press('Enter');
  await attached(page).getByText('reading, then sent').waitFor();
  expect(await field(page).inputValue()).toBe('Read this');
  await read();
  const { message: words, blocks = [] } = await sent();
  expect(words).toBe('Read this');
  expect(stored(blocks[0])?.equals(notes.buffer)).toBe(true);
  await expect.poll(() => field(page).inputValue()).toBe('');
});

it('a file that is removed while it is being read stays removed, and is not stored', async () => {
  const { page, read } = await visitSlowReader();
  await pick(page, screen, notes);
  await field(page).fill('Read this');
  await field(page).press('Enter');
  await attached(page).getByText('reading, then sent').first().waitFor();
  await button(page, 'Remove screen.png').click();
  await attached(page).getByText('reading', { exact: true }).waitFor();
  await read();
  await card(page, 'notes.md').waitFor();
  expect(await attached(page).getByRole('listitem').count()).toBe(1);
  await expect.poll(async () => (await storedKeys(page, 'files')).length).toBe(1);
  expect(stage.requests.some(({ path }) => path.endsWith('/send'))).toBe(false);
});

it('if a person presses Enter while a file is being read and then types, the message is sent only after another Enter', async () => {
  const { page, read } = await visitSlowReader();
  await pick(page, notes);
  await button(page, 'Send message').click();
  await attached(page).getByText('reading, then sent').waitFor();
  await field(page).pressSequentially('And');
  await attached(page).getByText('reading', { exact: true }).waitFor();
  await read();
  await card(page, 'notes.md').waitFor();
  expect(stage.requests.some(({ path }) => path.endsWith('/send'))).toBe(false);
  await field(page).press('Enter');
  expect(await sent()).toMatchObject({ message: 'And' });
});

it('a removed attachment is not sent and not stored', async () => {
  const page = await stage.visit();
  await pick(page, screen, notes);
  await card(page, 'notes.md').waitFor();
  await button(page, 'Remove screen.png').click();
  await card(page, 'screen.png').waitFor({ state: 'detached' });
  await expect.poll(async () => (await storedKeys(page, 'files')).length).toBe(1);
  await field(page).fill('Read this');
  await field(page).press('Enter');
  const { message: words, blocks } = await sent();
  expect(words).toBe('Read this');
  expect(blocks).toEqual([expect.objectContaining({ type: 'resource' })]);
});

it('attachments and their pictures survive a reload, and can be sent afterwards', async () => {
  const page = await stage.visitShared();
  await pick(page, screen);
  await card(page, 'screen.png').waitFor();
  await field(page).fill('What is wrong?');
  await page.reload();
  await expect
    .poll(() => widthOf(card(page, 'screen.png').getByRole('img', { name: 'screen.png' })))
    .toBe(60);
  await expect.poll(() => field(page).inputValue()).toBe('What is wrong?');
  await button(page, 'Send message').click();
  const { blocks = [] } = await sent();
  expect(stored(blocks[0])?.equals(screen.buffer)).toBe(true);
});

it('a message with a file survives a reload while the server is unavailable, and arrives only once', async () => {
  const page = await stage.visitShared();
  const away = /\/api\/(blob|session\/[^/]+\/send)$/;
  await page.route(away, (route) => route.abort());
  await pick(page, screen);
  await card(page, 'screen.png').getByText('Waits for the server').waitFor();
  await field(page).fill('What is wrong?');
  await field(page).press('Enter');
  await page.getByText('Sends when you are back online').waitFor();
  await page.reload();
  await unsent(page).getByText('What is wrong?').waitFor();
  await expect.poll(() => widthOf(unsent(page).getByRole('img'))).toBe(60);

  expect(stage.requests.some(({ path }) => away.test(path))).toBe(false);
  await page.unrouteAll();
  stage.hangUp();
  const { message: words, blocks = [] } = await sent();
  expect(words).toBe('What is wrong?');
  expect(stored(blocks[0])?.equals(screen.buffer)).toBe(true);
  expect(stage.requests.filter(({ path }) => path === '/api/blob')).toHaveLength(1);
});

it('a message that could not be sent keeps its files when the person takes it back to edit it', async () => {
  stage.refuse = (path) =>
    path.endsWith('/send') ? { code: 'QUEUE_FULL', message: 'Enough for now.' } : undefined;
  const page = await stage.visitShared();
  await pick(page, screen);
  await card(page, 'screen.png').waitFor();
  await field(page).fill('What is wrong?');
  await field(page).press('Enter');
  await page.getByText('Not sent: Enough for now.').waitFor();
  await expect.poll(() => widthOf(unsent(page).getByRole('img'))).toBe(60);
  await button(page, 'Edit').click();
  await expect
    .poll(() => widthOf(card(page, 'screen.png').getByRole('img', { name: 'screen.png' })))
    .toBe(60);
  await expect.poll(() => field(page).inputValue()).toBe('What is wrong?');
  await expect.poll(() => unsent(page).count()).toBe(0);
  await expect.poll(() => storedKeys(page, 'files')).toHaveLength(1);
});

it('arrow up recalls the last message with its attachments', async () => {
  const block = image();
  showMessage('What is wrong?', [block]);
  const page = await stage.visitShared();
  await prompts(page).getByText('What is wrong?').waitFor();
  await field(page).press('ArrowUp');
  await card(page, 'screen.png').waitFor();
  await field(page).press('Enter');
  expect(await sent()).toMatchObject({ message: 'What is wrong?', blocks: [block] });
  expect(stage.requests.some(({ path }) => path === '/api/blob')).toBe(false);
});

it('a mention of a file stays in the text and is not an attachment', async () => {
  const blocks = [image(), mentionLink('/code/shop', 'src/a.ts')];
  showMessage('Compare it with @src/a.ts', blocks);
  stage.info.queue = [
    { turnId: 'q', message: 'And @src/a.ts', blocks, queuedAt: '', state: 'queued' },
  ];
  const page = await stage.visitShared();
  const lists = page.getByRole('list', { name: 'Attachments' });
  await expect.poll(() => lists.count()).toBe(2);
  for (const list of await lists.all()) {
    expect(await list.getByRole('listitem').count()).toBe(1);
  }
  await field(page).press('ArrowUp');
  await card(page, 'screen.png').waitFor();
  expect(await attached(page).getByRole('listitem').count()).toBe(1);
  await button(page, 'Queue message').or(button(page, 'Send message')).click();
  const { blocks: given = [] } = await sent();
  expect(given).toContainEqual(blocks[0]);
});

it('a file that is empty, too large, or of a type that the agent rejects is refused at once and cannot be sent', async () => {
  const page = await stage.visitShared();
  const pdf = { name: 'a.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 x') };
  const empty = { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) };
  await pick(page, pdf, empty);
  await dropLarge(page, 'all.log', 21 * 1024 * 1024);
  const why = (name: string) => card(page, name).getByRole('alert').innerText();
  await card(page, 'all.log').getByRole('alert').waitFor();
  expect(await why('a.pdf')).toBe(
    'Demo does not accept such files, only text/*. Remove “a.pdf” (application/pdf) from the message.',
  );
  expect(await why('empty.txt')).toBe('This file is empty. Remove it.');
  expect(await why('all.log')).toMatch(/^The file has 21 MiB, but the limit is 20 MiB\./);
  await field(page).fill('Read these');
  await field(page).press('Enter');
  expect(await button(page, 'Send message').isDisabled()).toBe(true);
  for (const name of ['a.pdf', 'empty.txt', 'all.log'])
    await button(page, `Remove ${name}`).click();
  await button(page, 'Send message').click();
  expect(await sent()).toMatchObject({ message: 'Read these' });
  expect(stage.requests.some(({ path }) => path === '/api/blob')).toBe(false);
});

it('a failed upload shows the reason and can be retried', async () => {
  const message = 'The disk is full. Make room on it, and try again.';
  stage.refuse = (path) =>
    path === '/api/blob' ? { code: 'STORE_WRITE_FAILED', message } : undefined;
  const page = await stage.visitShared();
  await pick(page, screen);
  await card(page, 'screen.png').getByText(message).waitFor();
  expect(await button(page, 'Send message').isDisabled()).toBe(true);
  stage.refuse = () => undefined;
  await button(page, 'Try again').click();
  await card(page, 'screen.png').getByRole('alert').waitFor({ state: 'detached' });
  await button(page, 'Send message').click();
  expect(stored((await sent()).blocks?.[0])?.equals(screen.buffer)).toBe(true);
});

it('a message can be sent while its files are being uploaded', async () => {
  let upload = () => {};
  const held = new Promise<undefined>((resolve) => (upload = () => resolve(undefined)));
  const { answer } = stage;
  stage.answer = async (method, path, body) =>
    path === '/api/blob' ? held : answer(method, path, body);
  const page = await stage.visitShared();
  await pick(page, screen);
  await card(page, 'screen.png').getByText('Uploading').waitFor();
  await field(page).press('Enter');
  await unsent(page).getByRole('img', { name: 'screen.png' }).waitFor();
  upload();
  expect(stored((await sent()).blocks?.[0])?.equals(screen.buffer)).toBe(true);
  expect(stage.requests.filter(({ path }) => path === '/api/blob')).toHaveLength(1);
});

testAtLength(
  'an image with more pixels than models see is scaled down and keeps its type',
  async () => {
    const page = await stage.visitShared();
    const photo = { ...screen, name: 'photo.png', buffer: png(2400, 1200, () => [90, 120, 200]) };
    await pick(page, photo);
    await button(page, 'Show photo.png').waitFor();
    await field(page).press('Enter');
    const [block] = (await sent()).blocks ?? [];
    expect(block).toMatchObject({ type: 'image', mimeType: 'image/png', name: 'photo.png' });
    const bytes = stored(block)!;
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([2000, 1000]);
  },
);

it('an image of a type that models do not read is converted', async () => {
  const page = await stage.visitShared();
  const bitmap = await page.evaluate(() => {
    // One blue pixel.
    const head = [
      66, 77, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
    ];
    return [...head, 1, 0, 24, 0, ...Array.from({ length: 24 }, () => 0), 255, 0, 0, 0];
  });
  await pick(page, { name: 'a.bmp', mimeType: 'image/bmp', buffer: Buffer.from(bitmap) });
  await button(page, 'Show a.jpg').waitFor();
  await field(page).press('Enter');
  expect((await sent()).blocks?.[0]).toMatchObject({ mimeType: 'image/jpeg', name: 'a.jpg' });
});

it('the queue shows attachments, and an edited message keeps them', async () => {
  const queued = { queuedAt: '', state: 'queued' } as const;
  stage.info.queue = [{ turnId: 'q', message: 'Later', blocks: [image()], ...queued }];
  const page = await stage.visitShared();
  const list = page.getByRole('list', { name: 'Queued messages' });
  await expect.poll(() => widthOf(list.getByRole('img', { name: 'screen.png' }))).toBe(60);
  await button(page, 'Edit queued message').click();
  await page.getByRole('textbox', { name: 'Queued message' }).fill('');
  await button(page, 'Save').click();
  const changes = () => stage.requests.filter(({ method }) => method === 'PUT');
  await expect
    .poll(() => changes().map(({ body }) => body))
    .toEqual([{ message: '', runCommand: true }]);
});

it('when an image of the conversation arrives, nothing moves', async () => {
  let show = () => {};
  const held = new Promise<undefined>((resolve) => (show = () => resolve(undefined)));
  stage.answer = async (_, path) => (path.startsWith('/api/blob/') ? held : undefined);
  // Use images that the page has not sent itself, because the page would show its own images at once.
  showMessage('What is wrong?', [
    image({ bytes: png(31, 17) }),
    image({ name: 'tall.png', bytes: png(20, 90) }),
  ]);
  const page = await stage.visitShared();
  const placesOf = () =>
    Promise.all(
      [prompts(page), page.getByText('What is wrong?'), field(page)].map((one) =>
        one.boundingBox(),
      ),
    );
  const before = await steady(page, placesOf);
  expect(await prompts(page).getByRole('img').count()).toBe(0);
  show();
  await expect.poll(() => prompts(page).getByRole('img').count()).toBe(2);
  await expect.poll(() => widthOf(prompts(page).getByRole('img').last())).toBe(20);
  expect(await steady(page, placesOf)).toEqual(before);
});

testAtLength('the memory of an image is released when it is no longer shown', async () => {
  showMessage('What is wrong?', [image()]);
  const page = await visitAndHold();
  const picture = prompts(page).getByRole('img', { name: 'screen.png' });
  await picture.waitFor();
  const held = () => page.evaluate(() => window.held.size);
  expect(await held()).toBe(1);
  await button(page, 'Close Fix the login').click();
  await expect.poll(held).toBe(0);
});

it('if an image no longer exists, a note is shown in its place', async () => {
  showMessage('What is wrong?', [image({ bytes: png(33, 19) })]);
  stage.blobs.clear();
  const page = await stage.visitShared();
  await prompts(page).getByText('is not stored any more').waitFor();
});

testAtLength(
  'when the page is opened again, it removes files to which no draft and no message refers',
  async () => {
    const page = await stage.visit();
    await pick(page, screen);
    await card(page, 'screen.png').waitFor();
    const [inUse = ''] = await storedKeys(page, 'files');
    await page.evaluate(
      (named) =>
        new Promise<void>((resolve) => {
          const opening = indexedDB.open('liminal');
          opening.addEventListener('success', () => {
            const writing = opening.result.transaction('files', 'readwrite');
            const files = writing.objectStore('files');
            const old = { bytes: new Blob(['x']), at: Date.now() - 2 * 60 * 60_000 };
            files.put(old, named);
            files.put(old, 'local:left');
            files.put({ ...old, at: Date.now() }, 'local:new');
            writing.addEventListener('complete', () => {
              opening.result.close();
              resolve();
            });
          });
        }),
      inUse,
    );
    await page.reload();
    await card(page, 'screen.png').waitFor();
    await expect.poll(() => storedKeys(page, 'files')).toEqual([inUse, 'local:new']);
  },
);

testAtLength(
  'on a phone, files and photos are chosen from a menu, and the whole menu fits on the screen',
  async () => {
    const page = await stage.visit(phone);
    await button(page, 'Attach files').tap();
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('menuitem', { name: 'Take a photo' }).tap();
    const chooser = await choosing;
    const input = chooser.element();
    expect(await input.getAttribute('accept')).toBe('image/*');
    expect(await input.getAttribute('capture')).toBe('environment');
    expect(chooser.isMultiple()).toBe(false);
    await chooser.setFiles({
      ...screen,
      name: 'a photo whose name is as long as names of photos are.png',
    });
    await button(page, 'Attach files').tap();
    const files = page.waitForEvent('filechooser');
    await page.getByRole('menuitem', { name: 'Choose files' }).tap();
    await (
      await files
    ).setFiles([notes, { ...notes, name: 'b.pdf', buffer: Buffer.from('%PDF-') }]);
    await card(page, 'b.pdf').getByRole('alert').waitFor();
    const cards = await attached(page).getByRole('listitem').all();
    expect(cards).toHaveLength(3);
    for (const one of cards) {
      const { x = -1, width = 0 } = (await one.boundingBox()) ?? {};
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    for (const remove of await attached(page)
      .getByRole('button', { name: /^Remove/ })
      .all()) {
      expect((await remove.boundingBox())?.width).toBeGreaterThanOrEqual(40);
    }
  },
);

it('attaching a file starts the agent, as writing a message does', async () => {
  stage.info = { ...stage.info, session: { ...stage.info.session, isAlive: false } };
  const page = await stage.visitShared();
  await pick(page, screen);
  const prewarm = `/api/session/${sessionId}/prewarm`;
  await expect.poll(() => stage.requests.map(({ path }) => path)).toContain(prewarm);
});
