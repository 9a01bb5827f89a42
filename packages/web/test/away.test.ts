import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { message, turn } from './items.ts';
import { openStage, otherSession, sessionId, stage } from './stage.ts';

openStage();

const source = new URL('../src/', import.meta.url).pathname;
const dist = new URL('../dist/', import.meta.url).pathname;

/** Returns the names of all components that are fetched separately, from the imports in the source. */
const partsInSource = () =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx') && !name.includes('.test.'))
    .flatMap((name) =>
      [...readFileSync(join(source, name), 'utf8').matchAll(/import\('[^']*\/(\w+)\.tsx'\)/g)].map(
        (found) => found[1] ?? '',
      ),
    );

it('the code of all separate components is fetched soon after the first paint', async () => {
  const page = await stage.visit();
  const fetchedNames = () =>
    page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  const parts = partsInSource();
  expect(parts.length).toBeGreaterThan(10);
  await expect
    .poll(async () => {
      const names = await fetchedNames();
      return parts.filter((part) => !names.some((name) => name.includes(`/assets/${part}-`)));
    })
    .toEqual([]);
});

/** Opens a page that fetches its parts only when they are needed. */
async function withoutPrefetch(): Promise<Page> {
  const page = await stage.visit();
  await page.addInitScript(() => {
    window.requestIdleCallback = () => 0;
  });
  await page.reload();
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  return page;
}

it.each([
  { name: 'the palette', keys: 'Control+k' },
  { name: 'the list of keys', keys: '?' },
  { name: 'a new session', keys: 'Alt+n' },
])(
  'if $name cannot be fetched, the rest of the page still works, and $name appears when the server is available again',
  async ({ keys }) => {
    stage.history = {
      entries: [message('a', 'An answer.', { turnId: 't1', status: 'complete' })],
      turns: [turn('t1', { status: 'complete' })],
      cursor: 't1:1',
      hasMore: false,
    };
    const page = await withoutPrefetch();
    await page.getByText('An answer.').waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.route('**/assets/**', (route) => route.abort());
    await page.keyboard.press(keys);
    await page.getByText('Not loaded: the server is away.').waitFor();
    expect(await page.getByText('An answer.').isVisible()).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.unroute('**/assets/**');
    stage.hangUp();
    await page.getByRole('dialog').waitFor();
    await expect.poll(() => page.getByText('Not loaded').count()).toBe(0);
    // Check that the dialog's styles were also fetched.
    const sheets = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')].every(
        ({ sheet }) => sheet !== null,
      ),
    );
    expect(sheets).toBe(true);
  },
);

it('when the network is gone, the page checks the connection at once', async () => {
  const page = await stage.visit();
  await expect
    .poll(() => stage.received.some(({ type }) => type === 'session:subscribe'))
    .toBe(true);
  expect(stage.received).not.toContainEqual({ type: 'ping' });
  await page.evaluate(() => window.dispatchEvent(new Event('offline')));
  await expect.poll(() => stage.received).toContainEqual({ type: 'ping' });
});

/** Makes a copy of the build in which the first script has another name. */
function otherBuild(): string {
  const dir = mkdtempSync(join(tmpdir(), 'liminal-build-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  cpSync(dist, dir, { recursive: true });
  const html = readFileSync(join(dir, 'index.html'), 'utf8');
  const [, first = ''] = /\/assets\/(index-[^"]+)\.js/.exec(html) ?? [];
  const rename = (text: string) => text.replaceAll(`${first}.js`, 'index-other.js');
  writeFileSync(join(dir, 'index.html'), rename(html));
  for (const name of readdirSync(join(dir, 'assets'))) {
    const path = join(dir, 'assets', name);
    if (!name.endsWith('.js')) continue;
    const text = rename(readFileSync(path, 'utf8'));
    rmSync(path);
    writeFileSync(join(dir, 'assets', rename(name)), text);
  }
  return dir;
}

it('if the server has a newer build, the page offers to load the new page, and the draft is kept', async () => {
  const page = await stage.visit();
  await page.getByRole('textbox', { name: /Message/ }).fill('A draft of mine');
  stage.hangUp();
  await expect
    .poll(() => stage.received.filter(({ type }) => type === 'session:subscribe').length)
    .toBe(2);
  expect(await page.getByText('Liminal was updated').count()).toBe(0);
  stage.webDir = otherBuild();
  stage.hangUp();
  await page.getByText('Liminal was updated').waitFor();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('log', { name: 'Conversation' }).waitFor();
  await expect
    .poll(() => page.getByRole('textbox', { name: /Message/ }).inputValue())
    .toBe('A draft of mine');
  expect(await page.getByText('Liminal was updated').count()).toBe(0);
});

/** Forwards connections to the stage. After `goSilent`, open connections carry no more data. */
async function openProxy() {
  const pairs: [Socket, Socket][] = [];
  const server = createServer((near) => {
    const far = connect(stage.port, '127.0.0.1');
    pairs.push([near, far]);
    near.pipe(far);
    far.pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of pairs.flat()) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    goSilent() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
  };
}

const wakings = ['online', 'visibilitychange', 'pageshow', 'none'] as const;

it.each(wakings.filter((one) => one !== 'none' || process.env['FAULTS'] === 'long'))(
  'after a connection went silent, text, list, messages and files are complete again (%s)',
  { timeout: 120_000 },
  async (waking) => {
    const proxy = await openProxy();
    const page = await stage.visit();
    await page.goto(`${proxy.url}/session/${sessionId}`);
    await page.getByRole('log', { name: 'Conversation' }).waitFor();
    const composer = page.getByRole('textbox', { name: /Message/ });
    await composer.waitFor();
    proxy.goSilent();
    stage.history = {
      entries: [message('a', 'Said in the silence.', { turnId: 't1', status: 'complete' })],
      turns: [turn('t1', { status: 'complete' })],
      cursor: 't1:1',
      hasMore: false,
    };
    stage.others = [otherSession('other', { title: 'Begun in the silence' })];
    const png = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('bytes') };
    await page.locator('input[type="file"]').first().setInputFiles(png);
    await composer.fill('One');
    await composer.press('Enter');
    await composer.fill('Two');
    await composer.press('Enter');
    await page.evaluate((type) => {
      if (type === 'none') return;
      const event =
        type === 'pageshow' ? new PageTransitionEvent(type, { persisted: true }) : new Event(type);
      (type === 'visibilitychange' ? document : window).dispatchEvent(event);
    }, waking);
    await page.getByText('Said in the silence.').waitFor({ timeout: 60_000 });
    await page
      .getByRole('link', { name: /Begun in the silence/ })
      .first()
      .waitFor();
    const sent = () => stage.requests.filter(({ path }) => path.endsWith('/send'));
    await expect
      .poll(() => sent().map(({ body }) => (body as { message: string }).message), {
        timeout: 60_000,
      })
      .toEqual(['One', 'Two']);
    expect(stage.blobs.size).toBe(1);
  },
);

it('if the server hangs while a message waits for it, the page reports this within seconds', async () => {
  const page = await stage.visit();
  stage.answer = (method) => (method === 'POST' ? new Promise(() => undefined) : undefined);
  await page.clock.install();
  const field = page.getByRole('textbox', { name: 'Message', exact: true });
  await field.fill('Are you there?');
  await field.press('Enter');
  await page.getByText('Sending…').waitFor();
  await page.clock.runFor(3_100);
  await expect.poll(() => stage.received.some(({ type }) => type === 'ping')).toBe(true);
  // New connections hang.
  await page.evaluate(() => {
    window.WebSocket = class extends EventTarget {
      static readonly OPEN = 1;
      readonly readyState = 0;
      close = () => undefined;
    } as never;
  });
  await page.clock.runFor(8_100);
  await page.clock.runFor(1_600);
  await page.getByRole('status').filter({ hasText: 'Server unreachable' }).waitFor();
  await page.getByText('Sends when you are back online').waitFor();
});
