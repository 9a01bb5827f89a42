import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { describe, expect, test } from 'vitest';
import { findingLine } from '../finding.ts';
import { type LogEntry, RunCheck } from './run-check.ts';

const [sessionId, runId, traceId] = ['session', 'run', '0af7651916cd43dd8448eb211c80319c'];
const expected = {
  how: 'XREAD of codex:run:run:events',
  sessionId,
  runId,
  request: { traceId, spanId: 'b7ad6b7169203331', isSampled: true },
  streams: true,
};

const prompt = { id: 'u', type: 'message', origin: 'user', content: 'Explain it.' } as const;
const answer = { id: 'a', type: 'message', origin: 'agent' } as const;
const asked: EventPayload[] = [
  { type: 'response_start', modelId: 'm', providerId: 'p' },
  { type: 'item_start', itemId: 'u', itemType: 'message', origin: 'user' },
  { type: 'item_done', itemId: 'u', finalItem: prompt },
];
const end: EventPayload = { type: 'response_done', status: 'completed' };

/** Returns the events of a turn in which the agent sends these parts of a text. */
const said = (...pieces: string[]): EventPayload[] => [
  ...asked,
  { type: 'item_start', itemId: 'a', itemType: 'message', origin: 'agent' },
  ...pieces.map((deltaContent) => ({ type: 'item_delta', itemId: 'a', deltaContent }) as const),
  { type: 'item_done', itemId: 'a', finalItem: { ...answer, content: pieces.join('') } },
  end,
];
const whole = said('Small things ', 'come in lumps.');

const eventsOf = (payloads: readonly EventPayload[]): StreamEvent[] => {
  const traceContext = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  return runOf(payloads, { sessionId, runId, turnId: runId, traceContext });
};

const entriesOf = (events: readonly Record<string, unknown>[]): LogEntry[] =>
  events.map((value, at) => ({
    kind: 'event',
    name: `Entry 0-${at + 1}`,
    id: `0-${at + 1}`,
    value,
  }));

/** Returns the findings about these entries of the log. */
function check(entries: readonly LogEntry[], more: Partial<typeof expected> = {}): string[] {
  const run = new RunCheck({ ...expected, ...more });
  for (const entry of entries) run.take(entry);
  return run.findings().map(findingLine);
}

const checkRun = (payloads: EventPayload[], more?: Partial<typeof expected>) =>
  check(entriesOf(eventsOf(payloads)), more);

/** Returns the findings about a whole run. Before the check, `plant` changes the entries with these seqs. */
function checkPlanted(seqs: number[], plant: (event: StreamEvent) => Record<string, unknown>) {
  const planted = eventsOf(whole).map((one) => (seqs.includes(one.seq) ? plant(one) : { ...one }));
  return check(entriesOf(planted));
}

test('FR-001-36: a complete run passes the check, and its events are counted', () => {
  expect(checkRun(whole)).toEqual([
    'ok    XREAD of codex:run:run:events gives 8 events without a gap: response_start, 2 item_start, 2 item_done, 2 item_delta, response_done',
    'ok    Each event has a trace context of the request’s trace',
  ]);
});

describe('faults that are planted in the log', () => {
  test('an entry without a trace context is reported', () => {
    const without = (event: StreamEvent) => ({ ...event, traceContext: undefined });
    expect(checkPlanted([3], without)).toEqual(['FAIL  Entry 0-4 has no “traceContext”.']);
    expect(checkPlanted([3, 4, 7], without)).toEqual([
      'FAIL  Entry 0-4 has no “traceContext”. The same is true of 2 more.',
    ]);
  });

  test('an entry of another trace, or with an invalid trace context, is reported', () => {
    const other = `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`;
    const of = (traceparent: string) => (event: StreamEvent) => ({
      ...event,
      traceContext: { traceparent },
    });
    expect(checkPlanted([0], of(other))).toEqual([
      `FAIL  Entry 0-1 belongs to trace ${'1'.repeat(32)}, not to that of the request. A proxy in front of the server must forward traceparent.`,
    ]);
    expect(checkPlanted([0], of(`00-${traceId}-${'0'.repeat(16)}-01`))).toEqual([
      expect.stringMatching(
        /^FAIL {2}Entry 0-1 is not a valid event: "traceContext.traceparent": .*\.$/,
      ),
    ]);
  });

  test('a gap, a repeated event and an invalid event are reported', () => {
    const entries = entriesOf(eventsOf(whole));
    expect(check(entries.toSpliced(4, 1))).toEqual([
      'FAIL  There is a gap before Entry 0-6: seq 4 is missing.',
    ]);
    expect(check(entries.slice(3))).toEqual([
      'FAIL  There is a gap before Entry 0-4: seq 0 to 2 is missing.',
      'FAIL  The run begins with item_start, not with response_start.',
    ]);
    expect(check(entries.toSpliced(4, 0, entries[4]!))).toEqual(['FAIL  Entry 0-5 repeats seq 4.']);
    expect(checkPlanted([4], (event) => ({ ...event, payload: 'text' }))).toEqual([
      expect.stringMatching(/^FAIL {2}Entry 0-5 is not a valid event: "payload": /),
    ]);
  });

  test('an entry whose id does not match its seq, or that belongs to another run, is reported', () => {
    const [first, ...rest] = entriesOf(eventsOf(whole));
    expect(check([{ ...first!, id: '5-1' } as LogEntry, ...rest])).toEqual([
      'FAIL  Entry 0-1 has seq 0, so it must be entry 0-1.',
    ]);
    expect(checkPlanted([2], (event) => ({ ...event, runId: 'other' }))).toEqual([
      'FAIL  Entry 0-3 names another run, turn or session.',
    ]);
    expect(checkPlanted([2], (event) => ({ ...event, eventId: 'run:9' }))).toEqual([
      'FAIL  Entry 0-3 has the eventId run:9, not run:2.',
    ]);
  });

  test('if a run was closed without its end, or has an event after its end, this is reported', () => {
    const entries = entriesOf(eventsOf(whole));
    expect(check([...entries.slice(0, -1), { kind: 'closed' }])).toEqual([
      'FAIL  The run was closed without its end: its server was lost.',
    ]);
    expect(checkRun([...whole, { type: 'heartbeat' }])).toEqual([
      'FAIL  Entry 0-9 came after the end of the run.',
    ]);
  });
});

describe('an agent', () => {
  test('if the turn fails, only the turn’s own error is reported', () => {
    const error = { code: 'RATE_LIMITED', message: 'The model is overloaded.' };
    const line = 'FAIL  The turn failed (RATE_LIMITED): The model is overloaded.';
    expect(checkRun([...asked, { type: 'response_error', error }])).toEqual([line]);
    expect(checkRun([...asked, { type: 'response_done', status: 'error', error }])).toEqual([line]);
    expect(checkRun([...asked, { type: 'response_done', status: 'cancelled' }])).toEqual([
      'FAIL  The turn was stopped.',
    ]);
  });

  test('if an agent sends no text, does not end its text or withdraws its text, this is reported', () => {
    expect(checkRun([...asked, end])).toEqual([
      'FAIL  The agent said nothing: there is no item_start of a message or of reasoning.',
    ]);
    const begun = whole.slice(0, -2);
    expect(checkRun([...begun, end])).toEqual(['FAIL  Item a began but has no end.']);
    expect(checkRun([...begun, { type: 'item_cancelled', itemId: 'a' }, end])).toEqual([
      'FAIL  The agent withdrew all of its text: there is no item_done.',
    ]);
  });

  const long = 'Very small things come in lumps, and nobody knows which until they look.';

  test('if an agent sends its whole text at once, this is reported', () => {
    const held =
      'instead of streaming: the model’s server, or a proxy in front of it, buffers the text.';
    expect(checkRun(said(long)).at(-1)).toBe(
      `FAIL  The answer came whole, in one item_delta, ${held}`,
    );
    const none = said().map((payload) =>
      payload.type === 'item_done' && payload.itemId === 'a'
        ? { ...payload, finalItem: { ...answer, content: long } }
        : payload,
    );
    expect(checkRun(none).at(-1)).toBe(`FAIL  The answer came whole, in no item_delta, ${held}`);
  });

  test('if an agent need not stream, or sends too little text to show that it streams, the check passes with a note', () => {
    expect(checkRun(said(long), { streams: false }).at(-1)).toBe(
      'note  The answer came whole, in one item_delta: the agent does not stream.',
    );
    expect(checkRun(said('Hello.')).at(-1)).toBe(
      'note  The answer came in one item_delta, but is too short to show that text streams: ask for more with --prompt.',
    );
  });

  test('the check returns the title of an agent’s permission request', () => {
    const run = new RunCheck(expected);
    const title = 'rm -r build';
    const question = { itemId: 'q', itemType: 'approval', approvalId: 'q', title } as const;
    const payloads = [...asked, { type: 'item_start', ...question } as const];
    for (const entry of entriesOf(eventsOf(payloads))) run.take(entry);
    expect(run.question).toBe('rm -r build');
  });
});
