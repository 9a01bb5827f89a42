import { type Browser, chromium, type Page } from 'playwright-core';

/**
 * Measurements of a visit: a user opens a long session, reads it from end to start and back, and types during a turn.
 */
export interface Visit {
  /** Times since the page was requested, in ms. */
  firstPaintMs: number;
  conversationMs: number;
  /** The cumulative layout shift until the conversation no longer moves. */
  shift: number;
  /** The number of elements in the page at the end, and the largest number while the user reads. */
  elements: number;
  mostElements: number;
  /** The longest frame of each part of the visit, in ms. */
  reading: number;
  streaming: number;
  /** The longest time from a keypress to the paint that shows the character, in ms. */
  typing: number;
  /** The longest frame of an empty page in the same browser, in ms: the limit of the machine itself. */
  floor: number;
}

/** The distance that is scrolled in one frame, in px: the distance of a strong turn of a mouse wheel. */
const step = 2_000;
const floorFrames = 300;
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
];

export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: flags });
}

/** @param stream - Makes the agent write; resolves when the agent has begun. */
export async function visitPage(
  browser: Browser,
  address: string,
  stream: () => Promise<void>,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  try {
    const floor = await emptyFloor(page);
    await page.addInitScript(watchFrames);
    await page.goto(address);
    await page.locator('[data-row]').first().waitFor();
    const conversationMs = await page.evaluate(() => performance.now());
    await standStill(page);
    const opened = await page.evaluate(() => ({
      firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,
      shift: window.bench.shift,
      elements: document.querySelectorAll('*').length,
    }));
    await forgetFrames(page);
    const mostElements = await readThrough(page);
    const reading = await longestFrame(page);
    await page.getByRole('textbox', { name: 'Message', exact: true }).focus();
    await stream();
    await forgetFrames(page);
    await page.keyboard.type('The text that a user types while the agent is writing. '.repeat(3), {
      delay: 30,
    });
    await page
      .locator('[data-turn-id]')
      .last()
      .and(page.locator('[data-settled="true"]'))
      .waitFor();
    const streaming = await longestFrame(page);
    const typing = await page.evaluate(() => window.bench.key);
    return { ...opened, conversationMs, mostElements, reading, streaming, typing, floor };
  } finally {
    await context.close();
  }
}

interface Bench {
  frames: number[];
  shift: number;
  key: number;
}

declare global {
  interface Window {
    bench: Bench;
  }
}

/** Records long frames. The function runs in the page before the page's own scripts. */
function watchFrames(): void {
  const bench: Bench = { frames: [], shift: 0, key: 0 };
  window.bench = bench;
  const observe = (type: string, each: (entry: PerformanceEntry) => void, more = {}) =>
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) each(entry);
    }).observe({ type, buffered: true, ...more });
  observe('layout-shift', (entry) => (bench.shift += (entry as never as { value: number }).value));
  // The browser reports frames of 50 ms and more: the time of script, style, layout and paint together.
  observe('long-animation-frame', (entry) => bench.frames.push(entry.duration));
  const onKey = (entry: PerformanceEntry) => {
    if (entry.name.startsWith('key')) bench.key = Math.max(bench.key, entry.duration);
  };
  observe('event', onKey, { durationThreshold: 16 });
}

async function forgetFrames(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.bench.frames = [];
    window.bench.key = 0;
  });
}

/** Resolves with the longest frame. The browser does not report frames shorter than 50 ms, so these count as 0. */
async function longestFrame(page: Page): Promise<number> {
  return page.evaluate(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return Math.max(0, ...window.bench.frames);
  });
}

async function emptyFloor(page: Page): Promise<number> {
  await page.goto('about:blank');
  return page.evaluate(async (frames) => {
    const times: number[] = [];
    for (let index = 0; index < frames; index += 1) {
      times.push(await new Promise<number>((resolve) => requestAnimationFrame(resolve)));
    }
    return Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
  }, floorFrames);
}

/** Resolves when no row has been added or removed for a second. */
async function standStill(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const rows = () => document.querySelectorAll('[data-row]').length;
    for (let still = 0, before = -1; still < 60; still += 1) {
      await new Promise(requestAnimationFrame);
      if (rows() !== before) still = 0;
      before = rows();
    }
  });
}

/**
 * Scrolls from the end of the session to its start, which loads older pages, and back to the end. Returns the largest
 * number of elements in the page.
 */
async function readThrough(page: Page): Promise<number> {
  return page.evaluate(async (step) => {
    const log = document.querySelector('[role="log"]') as HTMLElement;
    const scroller = log.parentElement as HTMLElement;
    const frame = () => new Promise(requestAnimationFrame);
    let most = 0;
    const isAtStart = () => scroller.scrollTop === 0 && log.querySelector('header') !== null;
    const isAtEnd = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop < 2;
    for (let frames = 0; !isAtStart(); frames += 1) {
      scroller.scrollBy(0, -step);
      if (frames % 60 === 0) most = Math.max(most, document.querySelectorAll('*').length);
      await frame();
    }
    for (let frames = 0; !isAtEnd(); frames += 1) {
      scroller.scrollBy(0, step);
      if (frames % 60 === 0) most = Math.max(most, document.querySelectorAll('*').length);
      await frame();
    }
    return most;
  }, step);
}
