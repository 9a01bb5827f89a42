import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OutputItem } from '@liminal/protocol';
import type { Browser } from 'playwright-core';
import { bestOf, type Figure, repeat } from '../parts/figure.ts';
import { launchBrowser } from '../parts/page-visit.ts';
import { Measured } from '../parts/process.ts';
import { storeSession } from '../parts/stored-session.ts';
import { token } from '../parts/token.ts';
import { makeWorkItem } from '../parts/work-items.ts';

const script = fileURLToPath(new URL('../parts/source-server.ts', import.meta.url));
const webApp = fileURLToPath(new URL('../../packages/web/dist', import.meta.url));
/** The number of items: enough that the diagram in the first item is not drawn before the page is scrolled to it. */
const items = 200;
const visits = 5;
/** The most edges that the page draws. */
const edgeCount = 50;

const edges = Array.from({ length: edgeCount }, (_, n) => `a${n % 30} --> b${n % 29}`).join('\n');
const content = `\`\`\`mermaid\ngraph TD\n${edges}\n\`\`\``;

const makeItem = (id: string, index: number): OutputItem =>
  index === 1 ? { type: 'message', id, content, origin: 'agent' } : makeWorkItem(id, index);

/** Measures how long the largest diagram that the page draws blocks the page. */
export async function* diagram(): AsyncGenerator<Figure> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-diagram-'));
  const sessionId = await storeSession(dataDir, dataDir, items, { cliType: 'source', makeItem });
  const env = { ...process.env, BENCH_WEB: webApp };
  const server = await Measured.start([script, dataDir, '33'], env);
  const browser = await launchBrowser();
  try {
    const address = `http://127.0.0.1:${server.firstLine}/session/${sessionId}?token=${token}`;
    const times = await repeat(visits, () => longestTask(browser, address));
    yield {
      name: `page, a diagram of ${edgeCount} edges: longest task`,
      ...bestOf(times),
      unit: 'ms',
      bound: { atMost: 500 },
      detail: `best of ${times.map((time) => time.toFixed(0)).join(', ')}`,
    };
  } finally {
    await browser.close();
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

/** Scrolls to the diagram, and resolves with the longest task that the page ran until the diagram was drawn, in ms. */
async function longestTask(browser: Browser, address: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(address);
    await page.locator('[data-row]').last().waitFor();
    await page.evaluate(() => {
      const tasks: number[] = [];
      Object.assign(window, { tasks });
      new PerformanceObserver((list) =>
        tasks.push(...list.getEntries().map(({ duration }) => duration)),
      ).observe({ type: 'longtask' });
    });
    const scroller = page.getByRole('log', { name: 'Conversation' }).locator('..');
    const drawn = page.locator('img[alt*="graph TD"]').first();
    if ((await drawn.count()) > 0)
      throw new Error('The diagram was drawn before the page was scrolled to it.');
    while (!(await drawn.isVisible())) {
      await scroller.evaluate((element) => (element.scrollTop = 0));
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    // Wait, because the browser reports a long task only once it is over.
    return await page.evaluate(async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return Math.max(0, ...(window as unknown as { tasks: number[] }).tasks);
    });
  } finally {
    await context.close();
  }
}
