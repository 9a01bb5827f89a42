import { testAtLength } from '@liminal/testkit/at-length';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { SessionTab } from './session-tab.ts';
import { useStage } from './stage.ts';

const stage = useStage({ withKey: false });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;

async function demoSession(folder: string) {
  const ada = await stage.person();
  const session = await ada.startSession({ folder: await stage.project(folder), agent: 'Demo' });
  await session.choose('Pace', 'Instant');
  await session.send('explain');
  await session.untilEnded(1);
  return { ada, session };
}

const unsent = (page: Page) => page.getByRole('article', { name: 'Unsent message' });
const waiting = (page: Page) => page.getByText('Will be sent when the server is back');

test('what is sent while the server is dead arrives once, in order, when it is back', async () => {
  const { ada, session } = await demoSession('dead-server');
  stage.expectComplaints(away);
  await stage.server.crash();
  await session.send('plan');
  await session.send('error');
  await expect.poll(() => waiting(ada.page).count()).toBe(2);
  await stage.server.restart();
  await session.untilEnded(3);
  await expect.poll(() => session.prompts.allInnerTexts()).toEqual(['explain', 'plan', 'error']);
  await expect.poll(() => unsent(ada.page).count()).toBe(0);
});

testAtLength(
  'it survives the page that is loaded again meanwhile, and so does what is being written',
  async () => {
    const { ada, session } = await demoSession('reloaded');
    const { page } = ada;
    const address = page.url();
    stage.expectComplaints(away);
    await stage.server.crash();
    await session.send('plan');
    await waiting(page).waitFor();
    await session.composer.fill('Not yet');
    await page.reload().catch(() => undefined);
    expect(await session.composer.count()).toBe(0);
    await stage.server.restart();
    await page.goto(address);
    await session.untilEnded(2);
    await expect.poll(() => session.prompts.allInnerTexts()).toEqual(['explain', 'plan']);
    await expect.poll(() => session.composer.inputValue()).toBe('Not yet');
    await page.reload();
    await session.untilEnded(2);
    await expect.poll(() => session.prompts.allInnerTexts()).toEqual(['explain', 'plan']);
  },
);

test('a message whose answer was lost is sent again, and taken once', async () => {
  const { ada, session } = await demoSession('lost-answer');
  stage.expectComplaints(away);
  let attempts = 0;
  await ada.page.route('**/send', async (route) => {
    attempts += 1;
    const response = await route.fetch();
    if (attempts === 1) await route.abort();
    else await route.fulfill({ response });
  });
  await session.send('plan');
  await session.untilEnded(2);
  await session.send('error');
  await session.untilEnded(3);
  await expect.poll(() => session.prompts.allInnerTexts()).toEqual(['explain', 'plan', 'error']);
});

testAtLength('what waits can be changed and thrown away', async () => {
  const { ada, session } = await demoSession('changed');
  stage.expectComplaints(away);
  await stage.server.crash();
  await session.send('plan');
  await session.send('error');
  await expect.poll(() => waiting(ada.page).count()).toBe(2);
  await ada.page.getByRole('button', { name: 'Delete' }).first().click();
  await expect.poll(() => unsent(ada.page).count()).toBe(1);
  await ada.page.getByRole('button', { name: 'Edit' }).click();
  await expect.poll(() => session.composer.inputValue()).toBe('error');
  await expect.poll(() => unsent(ada.page).count()).toBe(0);
  await session.composer.fill('explain');
  await stage.server.restart();
  await session.composer.press('Enter');
  await session.untilEnded(2);
  await expect.poll(() => session.prompts.allInnerTexts()).toEqual(['explain', 'explain']);
});

test('two tabs of a browser share what is written, and send it once', async () => {
  const { ada, session } = await demoSession('two-tabs');
  stage.expectComplaints(away);
  const other = await ada.page.context().newPage();
  await other.goto(ada.page.url());
  const theirs = new SessionTab(other);
  await session.composer.fill('Half a');
  await expect.poll(() => theirs.composer.inputValue()).toBe('Half a');
  await theirs.composer.fill('Half a thought');
  await expect.poll(() => session.composer.inputValue()).toBe('Half a thought');
  await stage.server.crash();
  await session.send('plan');
  await waiting(other).waitFor();
  await expect.poll(() => theirs.composer.inputValue()).toBe('');
  await stage.server.restart();
  for (const tab of [session, theirs]) {
    await tab.untilEnded(2);
    await expect.poll(() => tab.prompts.allInnerTexts()).toEqual(['explain', 'plan']);
    await expect.poll(() => unsent(tab.page).count()).toBe(0);
  }
});

test('both survive a restart of the browser, a message of a million characters too', async () => {
  const { session } = await demoSession('browser');
  const profile = await mkdtemp(join(tmpdir(), 'liminal-profile-'));
  const open = async () =>
    chromium.launchPersistentContext(profile, {
      executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'],
    });
  const long = `explain ${'x'.repeat(990_000)}`;
  const address = session.page.url();
  const first = await open();
  const page = await first.newPage();
  const signIn = new URL(stage.server.link);
  signIn.port = String(stage.network.port);
  await page.goto(signIn.href);
  await page.goto(address);
  const before = new SessionTab(page);
  await before.untilEnded(1);
  stage.expectComplaints(away);
  await stage.server.crash();
  await before.send(long);
  await waiting(page).waitFor();
  await before.composer.fill('Not yet');
  await first.close();

  await stage.server.restart();
  const second = await open();
  try {
    const again = new SessionTab(await second.newPage());
    await again.page.goto(signIn.href);
    await again.page.goto(address);
    await again.untilEnded(2);
    await expect.poll(() => again.prompts.count()).toBe(2);
    await expect.poll(() => again.composer.inputValue()).toBe('Not yet');
  } finally {
    await second.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
