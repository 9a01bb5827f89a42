import type { UpsertObject } from '@liminal/protocol';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { message, tool, turn } from './items.ts';
import { openStage, stage } from './stage.ts';

openStage();

const code = '```ts\nexport const answer: number = 42;\nconsole.log(answer);\n```';

/** A conversation with every kind of item, and settings below the composer. */
function setTheScene() {
  const entries = Array.from({ length: 30 }, (_, n): UpsertObject[] => {
    const at = { turnId: `t${n}`, status: 'complete' } as const;
    return [
      message(`u${n}`, `Question ${n}`, { ...at, origin: 'user' }),
      tool(`c${n}`, { ...at, toolArguments: { command: 'npm test' }, toolOutput: 'ok' }),
      message(`a${n}`, `Answer ${n}\n\n${'some words '.repeat(80)}\n\n${code}`, at),
    ];
  }).flat();
  const turns = Array.from({ length: 30 }, (_, n) => turn(`t${n}`, { status: 'complete' }));
  stage.history = { entries, turns, cursor: 't29:0', hasMore: true, before: 'older' };
  const models = [{ value: 'm', name: 'A model with a long name' }];
  stage.info = {
    ...stage.info,
    configOptions: [
      { id: 'model', name: 'Model', currentValue: 'm', options: models },
      { id: 'mode', name: 'Mode', currentValue: 'm', options: models },
    ],
    usage: {
      inputTokens: 18_000,
      outputTokens: 400,
      contextTokens: 18_000,
      contextWindow: 200_000,
    },
  };
}

interface Shift {
  value: number;
  what: string[];
}

/** Returns the layout shifts without input since the page was opened. */
const shifts = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<Shift[]>((resolve) => {
        new PerformanceObserver((list) => {
          const entries = list.getEntries() as (PerformanceEntry & {
            value: number;
            hadRecentInput: boolean;
            sources: {
              node: Node | null;
              previousRect: DOMRectReadOnly;
              currentRect: DOMRectReadOnly;
            }[];
          })[];
          resolve(
            entries
              .filter((entry) => !entry.hadRecentInput)
              .map(({ value, sources }) => ({
                value,
                what: sources.map(({ node, previousRect, currentRect }) => {
                  const name = node instanceof Element ? node.outerHTML.slice(0, 60) : 'text';
                  const moved = [currentRect.x - previousRect.x, currentRect.y - previousRect.y];
                  return `${name} by ${moved.join(', ')}, ${currentRect.height} tall`;
                }),
              })),
          );
        }).observe({ type: 'layout-shift', buffered: true });
        // If no layout shifts, the observer reports nothing.
        setTimeout(() => resolve([]), 500);
      }),
  );

const devices: [string, BrowserContextOptions][] = [
  ['wide window', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];

it.each(atLength ? devices : devices.slice(0, 1))(
  'visible content stays in place while a session loads: %s',
  async (_, options) => {
    setTheScene();
    // Sessions and agents arrive late, one after another, as on a slow connection.
    const asked = new Map<string, PromiseWithResolvers<void>>();
    stage.answer = async (_method, path) => {
      if (path !== '/api/projects' && path !== '/api/agents') return undefined;
      const wait = asked.get(path) ?? Promise.withResolvers<void>();
      asked.set(path, wait);
      await wait.promise;
      return undefined;
    };
    const page = await stage.visit(options);
    for (const visit of ['cold', 'warm']) {
      if (visit === 'warm') await page.reload();
      await page.locator('[data-item-id="a29"]').waitFor();
      await page.getByRole('combobox', { name: 'Model' }).waitFor();
      for (const path of ['/api/agents', '/api/projects']) {
        await expect.poll(() => asked.has(path)).toBe(true);
        asked.get(path)?.resolve();
      }
      await expect.poll(() => page.title()).toContain('Fix the login');
      await page.locator('[data-item-id="u0"]').waitFor({ state: 'attached' });
      const moved = await shifts(page);
      const sum = moved.reduce((all, { value }) => all + value, 0);
      expect(sum, `${visit}: ${JSON.stringify(moved, null, 1)}`).toBeLessThanOrEqual(0.05);
      asked.clear();
    }
  },
);

testAtLength('visible content stays in place while rows are drawn above it', async () => {
  const rest = { status: 'complete' } as const;
  const entries = Array.from({ length: 300 }, (_, n) =>
    n % 3 === 0
      ? message(`i${n}`, `Step ${n}\n\n${'some words '.repeat(60)}\n\n${code}`, rest)
      : tool(`i${n}`, { ...rest, toolArguments: { command: `make ${n}` }, toolOutput: 'ok' }),
  );
  stage.history = { entries, turns: [turn('t1', rest)], cursor: 't1:0', hasMore: false };
  const page = await stage.visit({ viewport: { width: 1280, height: 800 } });
  // The rows are rendered one after the other, above the window. Each is taller or smaller than the gap that it
  // replaces.
  await page.locator('[data-item-id="i120"]').waitFor({ state: 'attached' });
  const moved = await shifts(page);
  const sum = moved.reduce((all, { value }) => all + value, 0);
  expect(sum, JSON.stringify(moved, null, 1)).toBeLessThanOrEqual(0.01);
});

it.each(atLength ? (['light', 'dark'] as const) : (['dark'] as const))(
  'the page is painted before its scripts run: %s',
  async (colorScheme) => {
    setTheScene();
    const page = await stage.visit({ colorScheme, viewport: { width: 1280, height: 800 } });
    const colours = () =>
      page.evaluate(() => {
        const at = (x: number, y: number) => {
          for (let e = document.elementFromPoint(x, y); e !== null; e = e.parentElement) {
            const { backgroundColor } = getComputedStyle(e);
            if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
          }
          return '';
        };
        return [at(130, 400), at(800, 20), at(800, 400), at(800, 745)];
      });
    const whole = await colours();
    const held = Promise.withResolvers<void>();
    await page.route('**/*.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await page.getByText('New session').waitFor();
    await expect
      .poll(() =>
        page.evaluate(() => performance.getEntriesByName('first-contentful-paint').length),
      )
      .toBe(1);
    expect(await page.getByRole('log').count()).toBe(0);
    // The outline must have the layout and the colours of the page that replaces it.
    expect(await colours()).toEqual(whole);
    held.resolve();
    await page.getByRole('log').waitFor();
    expect(await page.locator('.shell').count()).toBe(0);
  },
);

it('a component that is fetched on first use is shown as soon as it is loaded, without a timer', async () => {
  const page = await stage.visit();
  // Install the clock and reload, because the app reads the timer functions when it starts.
  await page.clock.install();
  await page.reload();
  await page.getByRole('log').waitFor();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.getByRole('button', { name: /^Commands/ }).click();
  await page.getByRole('dialog', { name: 'Commands' }).waitFor();
});
