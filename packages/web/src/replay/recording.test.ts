import {
  emptyResponse,
  foldResponse,
  responseToUpserts,
  toResponse,
  type UpsertObject,
} from '@liminal/protocol';
import { eventScripts, runOf } from '@liminal/protocol/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Player, readRecording, type Recording } from './recording.ts';
import { Timeline } from './timeline.ts';

const iso = '2026-01-01T00:00:00.000Z';
const header = { liminal: 'export', version: 1, exportedAt: iso, versions: { liminal: '0' } };
const session = {
  type: 'session',
  sessionId: 'session-1',
  cliType: 'demo',
  projectId: '/p',
  projectDir: '/p',
  title: 'Hello',
  createdAt: iso,
  updatedAt: iso,
};

/** Returns a recording of runs, either with their events, or rebuilt from the finished turns. */
async function recorded(
  scripts: ReturnType<typeof runOf>[],
  withEvents: boolean,
): Promise<Recording> {
  const lines: object[] = [header, session];
  for (const events of scripts) {
    const { outputItems, ...run } = toResponse(events.reduce(foldResponse, emptyResponse()))!;
    const counts = { items: outputItems.length, ...(withEvents && { events: events.length }) };
    lines.push({ type: 'run', ...counts, run });
    lines.push(...outputItems.map((item) => ({ type: 'item', item })));
    const told = events.map(({ timestamp, payload }) => ({ type: 'event', timestamp, payload }));
    if (withEvents) lines.push(...told);
  }
  lines.push({ type: 'end', runs: scripts.length, blobs: 0, secrets: {} });
  async function* text() {
    yield lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
  return readRecording(text());
}

const scripts = fc.array(eventScripts(), { minLength: 1, maxLength: 2 }).map((all) =>
  all.map((events, index) =>
    runOf(
      events.map(({ payload }) => payload),
      { runId: `run-${index}`, turnId: `run-${index}` },
    ),
  ),
);

test('a recording ends with the same turns as history, and a jump to a step shows the same as playing up to that step', async () => {
  await fc.assert(
    fc.asyncProperty(
      scripts,
      fc.boolean(),
      fc.array(fc.nat({ max: 999 })),
      async (all, withEvents, jumps) => {
        const recording = await recorded(all, withEvents);
        const total = recording.steps.length;
        const player = new Player(recording);
        const played = Array.from({ length: total + 1 }, (_, count) => player.viewAfter(count));
        const { turns } = played[total]!;
        for (const [index, { run }] of recording.runs.entries()) {
          const shown = turns[index]?.items.map(timeless).toSorted(byId);
          expect(shown).toEqual(responseToUpserts(run, '').map(timeless).toSorted(byId));
          expect(turns[index]?.status).toBe(run.status);
        }
        const jumper = new Player(recording);
        for (const jump of jumps) {
          const count = jump % (total + 1);
          expect(jumper.viewAfter(count)).toEqual(played[count]);
        }
      },
    ),
    { numRuns: 30 },
  );
});

/** Returns the item without its times, because a page may have received the item later than history. */
const timeless = (item: UpsertObject) => ({ ...item, emittedAt: '', sourceTimestamp: '' });
const byId = (a: { itemId: string }, b: { itemId: string }) => (a.itemId < b.itemId ? -1 : 1);

test('if a step does not change an object, the object stays the same, so that it is not rendered again', async () => {
  const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
  const text = (itemId: string) => ({ type: 'item_start', itemId, itemType: 'message' }) as const;
  const delta = (itemId: string) => ({ type: 'item_delta', itemId, deltaContent: 'A' }) as const;
  const events = runOf([start, text('a'), delta('a'), text('b'), delta('b')]);
  const player = new Player(await recorded([events], true));
  const [before, after] = [player.viewAfter(4), player.viewAfter(5)];
  expect(after.turns[0]?.items[0]).toBe(before.turns[0]?.items[0]);
  expect(after.turns[0]?.items).toHaveLength(2);
});

test('long silences are shortened by default, and each step has a position from which the step is found again', async () => {
  const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
  const events = runOf([start, { type: 'heartbeat' }, { type: 'heartbeat' }]);
  for (const [index, event] of events.entries()) {
    event.timestamp = new Date(Date.parse(iso) + [0, 1_000, 61_000][index]!).toISOString();
  }
  const { steps } = await recorded([events], true);
  const short = new Timeline(steps, false);
  expect(short.length).toBe(3_000);
  expect(new Timeline(steps, true).length).toBe(61_000);
  expect([0, 1, 2, 3].map((count) => short.positionAfter(count))).toEqual([0, 0, 1_000, 3_000]);
  expect([0, 999, 1_000, 2_999, 3_000].map((place) => short.countAt(place))).toEqual([
    1, 1, 2, 2, 3,
  ]);
  expect(short.positionOf(Date.parse(iso) + 31_000)).toBe(2_000);
  expect(short.positionOf(0)).toBe(0);
  expect(short.positionOf(Number.MAX_SAFE_INTEGER)).toBe(3_000);
});

test('a long recording is folded in slices; afterwards, no jump folds many steps', async () => {
  const start = { type: 'response_start', modelId: 'm', providerId: 'p' } as const;
  const text = { type: 'item_start', itemId: 'a', itemType: 'message' } as const;
  const delta = { type: 'item_delta', itemId: 'a', deltaContent: 'word ' } as const;
  const { steps, ...recording } = await recorded(
    [runOf([start, text, ...Array<typeof delta>(2_000).fill(delta)])],
    true,
  );
  let read = 0;
  const counted = new Proxy(steps, {
    get: (target, name) => {
      if (/^\d+$/.test(String(name))) read += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  const player = new Player({ ...recording, steps: counted });
  expect(player.prepare(0)).toBe(true);
  expect(read).toBe(0);
  expect(player.prepare(Infinity)).toBe(false);
  expect(read).toBe(Math.floor(steps.length / 256) * 256);
  read = 0;
  expect(player.viewAfter(1_500)).toEqual(new Player({ ...recording, steps }).viewAfter(1_500));
  expect(read).toBeLessThan(256);
});
