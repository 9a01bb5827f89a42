import type { QueuedMessage, Span } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { MessageSpans } from './message-spans.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const request = 'b7ad6b7169203331';
const message = (traceparent?: string): QueuedMessage => ({
  turnId: 't1',
  message: 'Hello',
  queuedAt: new Date(1_000).toISOString(),
  state: 'sending',
  ...(traceparent !== undefined && { traceContext: { traceparent, tracestate: 'a=1' } }),
});

/** A session whose clock the test sets. */
function begun(samples = true) {
  const spans: Span[] = [];
  const clock = { now: 1_000 };
  const add = (more: readonly Span[]) => void spans.push(...more);
  const tracing = { captureContent: false, samples: () => samples, add };
  return { spans, clock, messageSpans: new MessageSpans('s1', tracing, () => clock.now) };
}

test('the time before a turn is recorded as spans: the time in the queue, and the start of the agent', async () => {
  const { spans, clock, messageSpans } = begun();
  clock.now = 1_500;
  messageSpans.recordHandover('t1');
  await messageSpans.timeAgentStart(async () => void (clock.now = 1_900));
  clock.now = 2_000;
  const trace = messageSpans.recordTurnStart(message(`00-${traceId}-${request}-01`));
  const [session] = spans;
  expect(trace).toEqual({
    traceparent: `00-${traceId}-${session!.spanId}-01`,
    tracestate: 'a=1',
  });
  const told = spans.map((span) => [span.name, span.parentSpanId, span.startedAt, span.endedAt]);
  expect(told).toEqual([
    ['session', request, 1_000, 2_000],
    ['wait_in_queue', session!.spanId, 1_000, 1_500],
    ['start_agent', session!.spanId, 1_500, 1_900],
  ]);
});

test('if the agent was already running and the queue was empty, no spans are added', async () => {
  const { spans, clock, messageSpans } = begun();
  clock.now = 100;
  await messageSpans.timeAgentStart(async () => void (clock.now = 400));
  clock.now = 1_001;
  messageSpans.recordHandover('t1');
  const { traceparent } = messageSpans.recordTurnStart(message());
  expect(spans).toMatchObject([{ name: 'session', startedAt: 1_000, endedAt: 1_001 }]);
  expect(spans[0]).not.toHaveProperty('parentSpanId');
  expect(traceparent).toBe(`00-${spans[0]!.traceId}-${spans[0]!.spanId}-01`);
});

test('an unsampled trace stays unsampled', () => {
  const { spans, messageSpans } = begun(false);
  expect(messageSpans.recordTurnStart(message(`00-${traceId}-${request}-00`)).traceparent).toMatch(
    /-00$/,
  );
  expect(messageSpans.recordTurnStart(message()).traceparent).toMatch(/-00$/);
  expect(spans).toEqual([]);
});
