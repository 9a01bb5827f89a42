import { testAtLength } from '@liminal/testkit/at-length';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOptions } from './browser.ts';
import { Person } from './person.ts';
import { SessionTab } from './session-tab.ts';
import { useStage } from './stage.ts';

const stage = useStage({ withKey: false });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;

/** Opens a session that has the demo as its agent and has one turn. */
async function beginDemo(person: Person, name: string): Promise<SessionTab> {
  const session = await person.startSession({ folder: await stage.project(name), agent: 'Demo' });
  await session.choose('Speed', 'Instant');
  await session.send('explain');
  await session.untilEnded(1);
  return session;
}

async function demoSession(name: string) {
  const ada = await stage.person();
  return { ada, session: await beginDemo(ada, name) };
}

const unsent = (page: Page) => page.getByRole('article', { name: 'Unsent message' });
const waiting = (page: Page) => page.getByText('Sends when you are back online');

testAtLength('an unsent message and a draft survive a reload of the page', async () => {
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
  await expect.poll(() => session.prompts.allTextContents()).toEqual(['explain', 'plan']);
  await expect.poll(() => session.composer.inputValue()).toBe('Not yet');
  await page.reload();
  await session.untilEnded(2);
  await expect.poll(() => session.prompts.allTextContents()).toEqual(['explain', 'plan']);
});

testAtLength('an unsent message can be edited and discarded', async () => {
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
  await expect.poll(() => session.prompts.allTextContents()).toEqual(['explain', 'explain']);
});

/** Opens a signed-in browser. The browser's profile still exists after the browser is closed. */
async function openProfile(folder: string): Promise<Person> {
  const address = new URL(stage.server.link);
  address.port = String(stage.network.port);
  const options = { ...chromiumOptions(), reducedMotion: 'reduce' } as const;
  const context = await chromium.launchPersistentContext(folder, options);
  onTestFinished(() => context.close());
  const person = new Person(await context.newPage(), address.origin);
  await person.page.goto(address.href);
  await person.sidebar.waitFor();
  return person;
}

test('two tabs share a draft; messages that are sent while the server is down, or whose answer is lost, arrive once and in order; the draft and the messages survive a restart of the browser, even a message of a million characters', async () => {
  const profile = await mkdtemp(join(tmpdir(), 'liminal-profile-'));
  onTestFinished(() => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  const first = await openProfile(profile);
  const { page } = first;
  const session = await beginDemo(first, 'two-tabs');
  const other = await page.context().newPage();
  await other.goto(page.url());
  const theirs = new SessionTab(other);
  await session.composer.fill('Half a');
  await expect.poll(() => theirs.composer.inputValue()).toBe('Half a');
  await theirs.composer.fill('Half a thought');
  await expect.poll(() => session.composer.inputValue()).toBe('Half a thought');
  await stage.server.crash();
  await session.send('plan');
  await session.send('error');
  for (const tab of [page, other]) await expect.poll(() => waiting(tab).count()).toBe(2);
  await expect.poll(() => theirs.composer.inputValue()).toBe('');
  await stage.server.restart();
  for (const tab of [session, theirs]) {
    await tab.untilEnded(3);
    await expect.poll(() => tab.prompts.allTextContents()).toEqual(['explain', 'plan', 'error']);
    await expect.poll(() => unsent(tab.page).count()).toBe(0);
  }

  // Close the other tab, because that tab would also send the message.
  await other.close();
  let attempts = 0;
  await page.route('**/send', async (route) => {
    attempts += 1;
    const response = await route.fetch();
    if (attempts === 1) await route.abort();
    else await route.fulfill({ response });
  });
  await session.send('plan');
  await session.untilEnded(4);
  await session.send('explain');
  await session.untilEnded(5);
  await expect
    .poll(() => session.prompts.allTextContents())
    .toEqual(['explain', 'plan', 'error', 'plan', 'explain']);
  await page.unroute('**/send');

  await stage.server.crash();
  await session.send(`explain ${'x'.repeat(990_000)}`);
  await waiting(page).waitFor();
  await session.composer.fill('Not yet');
  const address = page.url();
  await page.context().close();

  await stage.server.restart();
  const again = new SessionTab((await openProfile(profile)).page);
  await again.page.goto(address);
  await again.untilEnded(6);
  await expect.poll(() => again.prompts.count()).toBe(6);
  await expect.poll(() => again.composer.inputValue()).toBe('Not yet');
});
