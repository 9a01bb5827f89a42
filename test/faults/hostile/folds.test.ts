/** Tests that, for arbitrary events and messages of the right types, every fold returns a result that can be shown. */
import { applyMessage, type SessionView } from '@liminal/client';
import {
  closeOpenItems,
  destroyUpsertFold,
  emptyResponse,
  flushIdle,
  foldResponse,
  type FoldOutput,
  foldUpsert,
  HistoryPage,
  nextFlushAt,
  Response,
  responseToUpserts,
  resumeResponse,
  resumeUpsertFold,
  ServerMessage,
  startUpsertFold,
  type StreamEvent,
  summarizeTurn,
  toResponse,
  type UpsertFoldConfig,
  withinDepth,
} from '@liminal/protocol';
import { expect, test } from 'vitest';
import { emptyView } from '../../../packages/client/src/session/view.ts';
import { patience } from '../length.ts';
import { benignRun, hostileRun } from './events.ts';
import { playHostile, share } from './play.ts';
import { hostileStream, linesOf } from './stream.ts';

const sessionId = 'session-1';
const emittedAt = '2026-01-01T00:00:00.000Z';
const gone = { code: 'PROCESS_CRASH', message: 'It is gone.' };

/** Returns the fold's outputs for one kind of reader, including the turn's end. */
function foldFor(events: readonly StreamEvent[], config: Partial<UpsertFoldConfig>): FoldOutput[] {
  let state = startUpsertFold(config);
  const outputs: FoldOutput[] = [];
  for (const [now, event] of events.entries()) {
    const step = foldUpsert(state, event, now);
    outputs.push(...step.outputs);
    const flushed = nextFlushAt(step.state) === undefined ? step : flushIdle(step.state, now);
    if (flushed !== step) outputs.push(...flushed.outputs);
    ({ state } = flushed);
  }
  return [...outputs, ...destroyUpsertFold(state, 0, gone).outputs];
}

/** Returns the outputs in the form in which the server sends them. */
function messagesOf(outputs: readonly FoldOutput[]): ServerMessage[] {
  return outputs.map((output, n): ServerMessage => {
    const at = { sessionId, cursor: `run-1:${n}` };
    if (output.kind === 'upsert') return { type: 'session:upsert', ...at, payload: output.upsert };
    if (output.kind === 'turn') return { type: 'session:turn', ...at, payload: output.event };
    const { kind, ...rest } = output;
    return { type: `session:${kind}`, ...at, ...rest } as ServerMessage;
  });
}

const historyMessage = (response: Response): ServerMessage => ({
  type: 'session:history',
  sessionId,
  resumed: 'snapshot',
  entries: responseToUpserts(response, emittedAt),
  turns: [summarizeTurn(response)],
  cursor: 'run-1:0',
  hasMore: false,
});

const shown = (messages: readonly ServerMessage[]): SessionView =>
  messages.reduce((view, message) => applyMessage(view, message, 0), emptyView(sessionId));

/** Returns all results of a run: the results that are stored and the results that are shown. */
function foldAll(events: readonly StreamEvent[]) {
  const state = events.reduce(foldResponse, emptyResponse());
  const response = toResponse(state);
  if (response === undefined) throw new Error('The run has not begun.');
  const live = messagesOf(foldFor(events, { appends: true }));
  const whole = messagesOf(foldFor(events, {}));
  const resumed = resumeUpsertFold(resumeResponse(response));
  const closing = closeOpenItems(state, { status: 'error', error: gone });
  return {
    response,
    messages: [...live, ...whole, historyMessage(response)],
    views: [shown(live), shown(whole), shown([historyMessage(response)])],
    rest: [destroyUpsertFold(resumed, 0, gone).outputs, closing],
  };
}

/** Returns processor time, in ms. */
function costOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function expectJson(value: unknown): void {
  const json = JSON.stringify(value);
  expect(JSON.stringify(JSON.parse(json)) === json, 'is unchanged after JSON').toBe(true);
}

function issuesOf(result: { error?: { issues: readonly unknown[] } | undefined }) {
  return result.error?.issues.slice(0, 3);
}

test(
  'SAFE: every run of events can be folded into valid values, in a time proportional to its length',
  { timeout: patience(share(15)) },
  async () => {
    await playHostile(share(15), hostileStream, async (stream) => {
      const events = hostileRun(stream);
      const made: ReturnType<typeof foldAll>[] = [];
      const cost = costOf(() => made.push(foldAll(events)));
      for (const { response, messages, views, rest } of made) {
        expect(issuesOf(Response.safeParse(response))).toBeUndefined();
        for (const message of messages) {
          expect(issuesOf(ServerMessage.safeParse(message))).toBeUndefined();
        }
        const page = { ...historyMessage(response) };
        expect(issuesOf(HistoryPage.safeParse(page))).toBeUndefined();
        expectJson([response, messages, views, rest]);
        expect(views.map(({ needsResync }) => needsResync)).toEqual([false, false, false]);
        // A text may be shown to one kind of reader earlier than to the other kind, so the order of items may differ.
        // Compare items by id.
        const [live, whole] = views.map(({ turns }) =>
          turns.flatMap(({ items }) =>
            items
              .map((item) => ({ ...item, emittedAt }))
              .toSorted((a, b) => (a.itemId < b.itemId ? -1 : 1)),
          ),
        );
        expect(live, 'all readers see the same').toEqual(whole);
      }
      // If events are applied a second time, they change nothing.
      const twice = [...events, ...events.slice(-3)].reduce(foldResponse, emptyResponse());
      expect(toResponse(twice)).toEqual(made[0]?.response);
      const benign = costOf(() => foldAll(benignRun(events)));
      expect(cost, `ms, and ${benign} ms for a harmless run`).toBeLessThan(20 * benign + 1_000);
      return { inputSize: JSON.stringify(events).length };
    });
  },
);

const messageScripts = Array.from({ length: 20 }, (_, script) => {
  const events = hostileRun({ script, length: 60, harms: [] });
  const messages = messagesOf(foldFor(events, { appends: script % 2 === 0 }));
  const response = toResponse(events.reduce(foldResponse, emptyResponse()));
  return response === undefined ? messages : [historyMessage(response), ...messages];
});

test(
  'SAFE: for every stream of messages, in any order, the client shows each message or requests the session again',
  { timeout: patience(share(10)) },
  async () => {
    await playHostile(share(10), hostileStream, async (stream) => {
      const lines = linesOf(stream, messageScripts);
      const messages = lines.flatMap(
        (line) => ServerMessage.safeParse(withinDepth<unknown>(JSON.parse(line))).data ?? [],
      );
      expectJson(shown(messages));
      return { inputSize: lines.join().length };
    });
  },
);
