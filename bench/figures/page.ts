import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../parts/connection.ts';
import { bestOf, type Figure, repeat } from '../parts/figure.ts';
import { launchBrowser, type Visit, visitPage } from '../parts/page-visit.ts';
import { Measured } from '../parts/process.ts';
import { storeSession } from '../parts/stored-session.ts';
import { token } from '../parts/token.ts';
import { makeWorkItem } from '../parts/work-items.ts';

const script = fileURLToPath(new URL('../parts/source-server.ts', import.meta.url));
const webApp = fileURLToPath(new URL('../../packages/web/dist', import.meta.url));
const items = 10_000;
const visitCount = 3;
/** The message that selects the agent's output: 60 deltas, 100 a second, in each of 10 texts. */
const speech = '60 100 10';

/**
 * Measures the page in Chromium with a session of 10,000 items: opening it, scrolling from the end to the start and
 * back, and typing during a turn.
 */
export async function* page(): AsyncGenerator<Figure> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-page-'));
  const stored = { cliType: 'source', makeItem: makeWorkItem };
  const sessionId = await storeSession(dataDir, dataDir, items, stored);
  const server = await Measured.start([script, dataDir, '33'], {
    ...process.env,
    BENCH_WEB: webApp,
  });
  const browser = await launchBrowser();
  try {
    const origin = `http://127.0.0.1:${server.firstLine}`;
    const connection = new Connection(origin);
    const stream = async () => {
      await connection.post(`${sessionId}/send`, { message: speech });
    };
    const address = `${origin}/session/${sessionId}?token=${token}`;
    yield* describe(await repeat(visitCount, () => visitPage(browser, address, stream)));
  } finally {
    await browser.close();
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

function describe(visits: readonly Visit[]): Figure[] {
  const best = (what: keyof Visit) => Math.min(...visits.map((visit) => visit[what]));
  const all = (what: keyof Visit) => visits.map((visit) => visit[what].toPrecision(3)).join(', ');
  const floor = `an empty page’s longest: ${best('floor').toFixed(0)} ms; none longer than 50 ms counts as 0`;
  const figure = (what: keyof Visit, name: string, unit: string, atMost: number, detail = '') => ({
    name: `page, ${items.toLocaleString('en')} items: ${name}`,
    ...bestOf(visits.map((visit) => visit[what])),
    unit,
    bound: { atMost },
    detail: `best of ${all(what)}${detail && `; ${detail}`}`,
  });
  return [
    figure('firstPaintMs', 'first paint', 'ms', 500),
    figure('conversationMs', 'conversation', 'ms', 1_500),
    figure('shift', 'layout shift', '', 0.05),
    figure('mostElements', 'elements', '', 15_000, `${best('elements')} at the end`),
    figure('reading', 'longest frame from end to start and back', 'ms', 50, floor),
    figure('streaming', 'longest frame while it goes on', 'ms', 50, floor),
    figure('typing', 'key to paint while it goes on', 'ms', 50),
  ];
}
