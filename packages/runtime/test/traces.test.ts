import { randomUUID } from 'node:crypto';
import { StreamEvent, type TraceContext } from '@liminal/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { startServers } from './cluster/servers.ts';
import { startWorld } from './harness.ts';
import { Reader } from './reader.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceContext: TraceContext = {
  traceparent: `00-${traceId}-${spanId}-00`,
  tracestate: 'rojo=00f067aa0ba902b7',
};
/** Another span of the trace in `traceContext`, with the same flags. */
const within = expect.stringMatching(
  new RegExp(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-00$`),
) as string;

/** A session with a scripted agent, and the logged trace of each of its runs. */
async function begin() {
  const world = await startWorld();
  onTestFinished(async () => world.end());
  const { projectDir } = world;
  const { sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir });
  const reader = await new Reader(world.runtime, sessionId).untilType('session:info');
  const events = (turnId: string) => world.medium.acknowledged.get(turnId) ?? [];
  return { world, sessionId, reader, events };
}

test('FR-001-10 a turn belongs to the trace of the request that sent its message, in every event and in history', async () => {
  const { world, sessionId, reader, events } = await begin();
  const { turnId } = await world.runtime.send(sessionId, 'Hello', undefined, { traceContext });
  world.agent.text(sessionId, 'a', 'Hi');
  world.agent.finish(sessionId);
  await reader.untilTurn('turn_complete');
  const told = events(turnId).map((event) => StreamEvent.parse(event));
  const first = told[0]!.traceContext;
  expect(first).toEqual({ traceparent: within, tracestate: 'rojo=00f067aa0ba902b7' });
  expect(told.length).toBeGreaterThan(3);
  expect(told.map((event) => event.traceContext)).toEqual(told.map(() => first));
  expect(told[0]!.payload).toMatchObject({ type: 'response_start', parentSpanId: spanId });
  expect(await world.runtime.getRun(turnId)).toMatchObject({
    traceContext: first,
    parentSpanId: spanId,
  });
});

test('a queued message keeps its trace, even if the server crashes; messages without a trace get one of their own', async () => {
  const { world, sessionId } = await begin();
  await world.runtime.send(sessionId, 'first');
  const waiting = randomUUID();
  await world.runtime.send(sessionId, 'second', waiting, { traceContext });
  await world.runtime.editQueued(sessionId, waiting, 'second, better');
  const next = await world.restart('crash');
  const reader = await new Reader(next.runtime, sessionId).untilType('session:info');
  await next.runtime.send(sessionId, 'third');
  await reader.untilTurn('turn_started', 1);
  next.agent.finish(sessionId);
  await reader.untilTurn('turn_started', 2);
  const traces = [...next.medium.acknowledged.values()].map(([event]) => event!.traceContext);
  expect(next.medium.acknowledged.get(waiting)?.[0]?.traceContext.traceparent).toEqual(within);
  expect(traces.filter((trace) => trace.traceparent.includes(traceId))).toHaveLength(1);
  expect(new Set(traces.map((trace) => trace.traceparent.slice(3, 35))).size).toBe(traces.length);
});

test('a steered message that gets a turn of its own keeps its own trace there', async () => {
  const { world, sessionId, reader, events } = await begin();
  const { turnId } = await world.runtime.send(sessionId, 'Go.');
  const messageId = randomUUID();
  await world.runtime.steer(sessionId, 'A word.', messageId, { traceContext });
  world.agent.leaveOver(sessionId, messageId);
  await reader.untilTurn('turn_complete');
  await world.agent.comeTo(sessionId, messageId, 'A word.');
  await reader.untilTurn('turn_started', 2);
  expect(events(turnId)[0]!.traceContext.traceparent).not.toContain(traceId);
  expect(events(messageId)[0]!.traceContext.traceparent).toEqual(within);
});

test('in a cluster, the session’s owner continues the trace that another server received', async () => {
  const servers = await startServers();
  const [a, b] = [await servers.start(), await servers.start()];
  const { projectDir } = servers;
  const { sessionId } = await a.runtime.createSession({ cliType: 'scripted', projectDir });
  const { turnId } = await b.runtime.send(sessionId, 'Hello', undefined, { traceContext });
  a.agent.finish(sessionId);
  await expect
    .poll(async () => servers.store.getResponse(turnId), { timeout: 30_000 })
    .toMatchObject({ status: 'complete', traceContext: { traceparent: within } });
});
