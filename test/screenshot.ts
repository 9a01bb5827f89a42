// Takes the pictures for the README: `npm run screenshot`. They show a demo session while its permission request is
// open.
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, type LiminalClient } from '@liminal/client';
import type { Browser } from 'playwright-core';
import { launchChromium, visit } from './e2e/browser.ts';
import { LiminalServer } from './e2e/server.ts';

const docs = fileURLToPath(new URL('../docs', import.meta.url));

/** The picture shows this path, so the path has a readable name. */
const home = join(tmpdir(), 'ada');

/** The sessions in the sidebar. Each has a message, which also selects the demo's scene, and a speed. */
const others = [
  { folder: 'shop', message: 'Explain why the order loop takes so long', pace: 'instant' },
  { folder: 'relay', message: 'Why does the sign-in fail after an hour?', pace: 'instant' },
  { folder: 'relay', message: 'Plan: describe the config as a schema', pace: 'instant' },
  { folder: 'relay', message: 'Run the slow browser tests', pace: 'normal' },
];
const shown = { folder: 'shop', message: 'Make the order list fast. Ask for my permission first.' };

await mkdir(home);
try {
  const env = { HOME: home, PATH: process.env['PATH'] ?? '' };
  const server = await LiminalServer.start({ dataDir: join(home, '.liminal'), env });
  const client = createClient({ baseUrl: server.origin, token: server.token });
  const browser = await launchChromium();
  try {
    for (const { folder, message, pace } of others) await begin(client, folder, message, pace);
    const sessionId = await begin(client, shown.folder, shown.message, 'instant');
    await take(browser, server.link, sessionId, 'light', 'screenshot.png');
    await take(browser, server.link, sessionId, 'dark', 'screenshot-dark.png');
  } finally {
    client.close();
    await browser.close();
    await server.stop();
  }
} finally {
  await rm(home, { recursive: true });
}

async function begin(client: LiminalClient, folder: string, message: string, pace: string) {
  const projectDir = join(home, 'code', folder);
  await mkdir(projectDir, { recursive: true });
  const options = { configOptions: { pace } };
  const { sessionId } = await client.requests.createSession({
    cliType: 'demo',
    projectDir,
    options,
  });
  await client.requests.send(sessionId, message);
  return sessionId;
}

async function take(
  browser: Browser,
  link: string,
  sessionId: string,
  colorScheme: 'light' | 'dark',
  file: string,
): Promise<void> {
  const viewport = { width: 1440, height: 900 };
  const { page, sidebar } = await visit(browser, link, { viewport, colorScheme });
  await sidebar.getByRole('link', { name: 'Run the slow browser tests' }).click();
  await sidebar.getByRole('link', { name: shown.message }).first().click();
  await page.getByRole('group', { name: /^Permission/ }).waitFor();
  await page.locator('table span[class^="code-"]').first().waitFor();
  await page.mouse.move(720, 0);
  await page.screenshot({ path: join(docs, file) });
  await page.context().close();
}
