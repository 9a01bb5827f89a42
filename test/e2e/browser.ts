import { atLength } from '@liminal/testkit/at-length';
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
} from 'playwright-core';
import { Person } from './person.ts';

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * How a headless Chromium is started: at length the whole program, else the shell of it if there is one, which is the
 * same engine and starts a page in a third of the time.
 */
export function chromiumOptions(): LaunchOptions {
  const { CHROMIUM_SHELL_PATH: shell, CHROMIUM_PATH: whole = '/usr/bin/chromium' } = process.env;
  return { executablePath: atLength ? whole : (shell ?? whole), headless: true, args: flags };
}

/** Starts a headless Chromium with a profile of its own. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch(chromiumOptions());
}

let shared: Promise<Browser> | undefined;

/** The headless Chromium of all files that a process tests; it ends with the process. */
export function sharedChromium(): Promise<Browser> {
  return (shared ??= launchChromium());
}

/** Somebody with a fresh profile (no cookie, nothing stored) who opens the address. */
export async function visit(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Person> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const person = new Person(page, new URL(address).origin);
  await page.goto(address);
  return person;
}
