import { setImmediate } from 'node:timers/promises';
import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse, toResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import type { EventLog, RunClaim, UpsertMessage } from '@liminal/storage';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Storage } from '../history/index.ts';
import { defaultUpsertSettings } from '../settings.ts';
import type { Tracing } from '../tracing/index.ts';
import { Projector } from './projector.ts';
import { useFakeDelays } from './testing/fake-delays.ts';

beforeEach(useFakeDelays);

const ids = { runId: 'run', turnId: 'run', sessionId: 'one' };
const delta = (deltaContent: string): EventPayload => ({
  type: 'item_delta',
  itemId: 'a',
  deltaContent,
});
/** A run of seven events. */
const events: StreamEvent[] = runOf(
  [
    { type: 'response_start', modelId: 'm', providerId: 'p' },
    { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
    delta('One'),
    delta(' two'),
    delta(' three'),
    {
      type: 'item_done',
      itemId: 'a',
      finalItem: { id: 'a', type: 'message', content: 'One two three', origin: 'agent' },
    },
    { type: 'response_done', status: 'completed' },
  ],
  ids,
);

interface Staging {
  storage?: Partial<Storage>;
  others?: string[];
  publish?: (message: UpsertMessage) => Promise<void>;
  tracing?: Tracing;
  follow?: (log: EventLog) => EventLog['follow'];
}

/** A projector that has claimed the run. The calls of the projector to the claim and to the store are recorded. */
async function project({ storage = {}, others = [], publish, tracing, follow }: Staging = {}) {
  const { log, store, coordination, eventArchive: archive } = openSharedMemoryStorage();
  const { board } = coordination;
  const steps: string[] = [];
  const warnings: [object, string][] = [];
  const claim: RunClaim = {
    runId: ids.runId,
    sessionId: ids.sessionId,
    others: async () => {
      steps.push('others');
      return others;
    },
    projected: async (seq) => void steps.push(`projected ${seq}`),
    done: async () => void steps.push('done'),
  };
  const save = store.saveResponse.bind(store);
  vi.spyOn(store, 'saveResponse').mockImplementation(async (response) => {
    steps.push(`save ${response.id} ${response.lastSeq}`);
    await save(response);
  });
  const settle = log.settle.bind(log);
  vi.spyOn(log, 'settle').mockImplementation(async (runId) => {
    steps.push(`settle ${runId}`);
    await settle(runId);
  });
  if (follow) {
    const following = follow(Object.assign(Object.create(log), { follow: log.follow.bind(log) }));
    vi.spyOn(log, 'follow').mockImplementation(following);
  }
  const start = () => {
    const projector = new Projector({
      storage: { log, store, ...storage },
      registry: {
        async *claims(_worker, signal) {
          yield claim;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      },
      board,
      logger: {
        info: () => {},
        error: () => {},
        warn: (details, text) => void warnings.push([details, text]),
      },
      ...(publish && {
        upserts: { publish },
        upsertSettings: { ...defaultUpsertSettings, retryAttempts: 0 },
      }),
      ...(tracing && { tracing }),
    });
    onTestFinished(async () => projector.close());
    return projector;
  };
  return { start, log, store, board, steps, warnings, archive };
}

/** Runs all work that can run now, and the timers that are due within `ms`. */
const advance = async (ms = 0) => {
  await setImmediate();
  await vi.advanceTimersByTimeAsync(ms);
  await setImmediate();
};

test('a whole run is saved at its first event and at its end, then settled, posted and released', async () => {
  const { start, log, steps, board, warnings } = await project();
  await log.append('run', events);
  start();
  await advance();
  expect(steps).toEqual([
    'others',
    'save run 0',
    'projected 0',
    'save run 6',
    'projected 6',
    'settle run',
    'done',
  ]);
  expect(await board.read(['settled:run'])).toEqual(new Map([['settled:run', 'one']]));
  expect(warnings).toEqual([]);
});

test('a running run is saved once a second, and between saves its unsaved events are counted', async () => {
  const { start, log, steps } = await project();
  await log.append('run', events.slice(0, 1));
  const projector = start();
  await advance();
  await advance(999);
  await log.append('run', events.slice(1, 2));
  await advance();
  expect(projector.unsaved).toBe(1);
  await advance(1);
  await log.append('run', events.slice(2, 3));
  await advance();
  expect(steps.filter((step) => step.startsWith('save'))).toEqual(['save run 0', 'save run 2']);
  expect(projector.unsaved).toBe(0);
  await log.append('run', events.slice(3, 5));
  await advance();
  expect(projector.unsaved).toBe(2);
  await advance(1_000);
  expect(steps.filter((step) => step.startsWith('save'))).toHaveLength(2);
  await log.append('run', events.slice(5));
  await advance();
  expect(steps.filter((step) => step.startsWith('save'))).toEqual([
    'save run 0',
    'save run 2',
    'save run 5',
    'save run 6',
  ]);
  expect(steps.filter((step) => step === 'others')).toHaveLength(1);
  expect(projector.unsaved).toBe(0);
});

test('a run that another projector has stored completely is only settled', async () => {
  const { start, log, store, steps } = await project();
  await log.append('run', events);
  const run = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (run) await store.saveResponse(run);
  steps.length = 0;
  start();
  await advance();
  expect(steps).toEqual(['settle run', 'done']);
});

test('a projector that closes leaves a running run in the state of the last save', async () => {
  const { start, log, steps, board } = await project();
  await log.append('run', events.slice(0, 1));
  const projector = start();
  await advance();
  await log.append('run', events.slice(1, 4));
  await advance();
  const before = [...steps];
  await projector.close();
  await advance(10_000);
  expect(steps).toEqual(before);
  expect((await board.read(['settled:run'])).size).toBe(0);
  expect(projector.unsaved).toBe(0);
});

test('if the store fails, the failure is logged with the run, and the run is tried again after a second', async () => {
  const { start, log, store, steps, warnings } = await project();
  await log.append('run', events);
  vi.mocked(store.saveResponse).mockRejectedValueOnce(new Error('The database is away.'));
  start();
  await advance(999);
  const details = {
    sessionId: 'one',
    runId: 'run',
    code: 'INTERNAL',
    error: 'The database is away.',
  };
  expect(warnings).toEqual([[details, 'a run could not be stored in history yet']]);
  expect(steps).not.toContain('done');
  await advance(1);
  expect(steps.at(-1)).toBe('done');
  expect(warnings).toHaveLength(1);
});

test('a failure while the projector closes is not logged, and not tried again', async () => {
  const { start, log, store, steps, warnings } = await project();
  await log.append('run', events);
  const saved = Promise.withResolvers<void>();
  vi.mocked(store.saveResponse).mockReturnValueOnce(saved.promise);
  const projector = start();
  await advance();
  const closing = projector.close();
  saved.reject(new Error('The database is closed.'));
  await closing;
  await advance(10_000);
  expect(warnings).toEqual([]);
  expect(steps).toEqual(['others']);
});

test('if the log lacks a part of the run, the failure is logged, and the log is followed again', async () => {
  let isLate = true;
  const { start, log, steps, warnings } = await project({
    follow: (whole) => (runId, options) => {
      const after = isLate ? 2 : options?.after;
      isLate = false;
      return whole.follow(runId, { ...options, ...(after !== undefined && { after }) });
    },
  });
  await log.append('run', events);
  start();
  await advance();
  expect(warnings).toEqual([
    [expect.objectContaining({ error: 'The log lacks a part of the run.' }), expect.any(String)],
  ]);
  await advance(1_000);
  expect(steps.at(-1)).toBe('done');
});

test('if the log returns only a part of a run although it contains more, the log is followed again', async () => {
  let isCut = true;
  const { start, log, steps, warnings } = await project({
    follow: (whole) =>
      async function* follow(runId, options) {
        for await (const event of whole.follow(runId, options)) {
          if (isCut && event.seq === 3) break;
          yield event;
        }
        isCut = false;
      },
  });
  await log.append('run', events);
  start();
  await advance();
  expect(warnings).toEqual([
    [
      expect.objectContaining({ error: 'The log gave only a part of the run.' }),
      expect.any(String),
    ],
  ]);
  expect(steps).not.toContain('settle run');
  await advance(1_000);
  expect(steps.slice(-2)).toEqual(['settle run', 'done']);
});

test('INV-2: a run whose end the log has lost is marked as ended in history', async () => {
  const { start, log, store, steps } = await project({
    follow: () =>
      async function* follow() {
        yield* events.slice(0, 3);
      },
  });
  start();
  await advance();
  expect(await store.getResponse('run')).toMatchObject({
    status: 'error',
    error: { code: 'OWNER_LOST' },
    updatedAt: Date.now(),
  });
  expect(steps.at(-1)).toBe('done');
  expect(await log.unsettled()).toEqual([]);
});

test('a run that another projector has settled stays unchanged, although the log returns nothing', async () => {
  const { start, store, steps } = await project({
    follow: () =>
      async function* follow() {
        yield* [];
      },
  });
  const run = toResponse(events.reduce(foldResponse, emptyResponse()));
  if (run) await store.saveResponse(run);
  steps.length = 0;
  start();
  await advance();
  expect(await store.getResponse('run')).toEqual(run);
  expect(steps.at(-1)).toBe('done');
});

test('an earlier run that history already has is not saved again when the session’s next run is saved', async () => {
  const named = { runId: 'first', turnId: 'first', sessionId: 'one' };
  const first = runOf([{ type: 'response_start', modelId: 'm', providerId: 'p' }], named);
  const { start, log, store, steps } = await project({ others: ['first', 'none'] });
  await log.append('first', first);
  const run = toResponse(first.reduce(foldResponse, emptyResponse()));
  if (run) await store.saveResponse(run);
  steps.length = 0;
  await log.append('run', events);
  start();
  await advance();
  expect(steps).not.toContain('save first 0');
});

test('upserts that cannot be published are logged once per run, and the run is still stored in history', async () => {
  const publish = vi.fn<() => Promise<void>>(async () => {
    throw new Error('Redis is away.');
  });
  const { start, log, steps, warnings } = await project({ publish });
  await log.append('run', events);
  start();
  await advance();
  expect(publish.mock.calls.length).toBeGreaterThan(2);
  const details = { code: 'INTERNAL', error: 'Redis is away.' };
  expect(warnings).toEqual([[details, 'upserts of a run could not be published']]);
  expect(steps.at(-1)).toBe('done');
});

test('FR-003-05: text that is buffered when the projector closes is published', async () => {
  const published: string[] = [];
  const { start, log } = await project({
    publish: async ({ payload }) => void published.push(JSON.parse(payload).content),
  });
  await log.append('run', events.slice(0, 5));
  const projector = start();
  await advance();
  expect(published).not.toContain('One two three');
  await projector.close();
  expect(published.at(-1)).toBe('One two three');
});

test('the projector’s work on a traced run is one span, which contains the number of events', async () => {
  const spans: Parameters<Tracing['add']>[0][number][] = [];
  const tracing: Tracing = {
    captureContent: false,
    samples: () => true,
    add: (more) => void spans.push(...more),
  };
  const { start, log } = await project({ tracing });
  await log.append('run', events);
  start();
  await advance();
  const [span] = spans.filter(({ name }) => name === 'projector');
  expect(span).toBeDefined();
  expect(JSON.stringify(span)).toContain('events');
  expect(spans.filter(({ name }) => name === 'projector')).toHaveLength(1);
});

test('events are archived once, before the store has the run up to them', async () => {
  const kept: string[] = [];
  const { start, log, steps } = await project({
    storage: {
      enabledArchive: {
        store: async (_, more) => void kept.push(more.map(({ seq }) => seq).join(' ')),
      },
    },
  });
  await log.append('run', events);
  start();
  await advance();
  expect(kept).toEqual(['0', '1 2 3 4 5 6']);
  expect(steps.at(-1)).toBe('done');
});
