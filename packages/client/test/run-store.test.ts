import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventPayload, StreamEvent } from '@liminal/protocol';
import { stampEvent } from '@liminal/protocol';
import { expect, onTestFinished, test } from 'vitest';
import {
  applyEvent,
  createClient,
  emptyResponse,
  responseToUpserts,
  toResponse,
} from '../src/index.ts';
import type { RunView } from '../src/index.ts';

const run = {
  sessionId: 'session-1',
  runId: 'run-1',
  traceContext: { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
};
const payloads: EventPayload[] = [
  { type: 'response_start', modelId: 'model', providerId: 'provider' },
  { type: 'item_start', itemId: 'a', itemType: 'message' },
  { type: 'item_delta', itemId: 'a', deltaContent: 'Grüße, ' },
  { type: 'item_delta', itemId: 'a', deltaContent: '世界 🌍' },
  {
    type: 'item_done',
    itemId: 'a',
    finalItem: { id: 'a', type: 'message', content: 'Grüße, 世界 🌍', origin: 'agent' },
  },
  { type: 'response_done', status: 'completed' },
];
const events = payloads.map((payload, seq) =>
  stampEvent({ turnId: 'turn-1', timestamp: '2026-01-01T00:00:00.000Z', payload }, run, seq),
);
const line = (event: StreamEvent) =>
  `event: ${event.type}\nid: ${event.eventId}\ndata: ${JSON.stringify(event)}\n\n`;

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Starts a server that gives these answers one after another, and reads a run from it. */
async function follow(...answers: Answer[]) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    // The client's own connection also sends requests to this server.
    if (request.url !== '/api/run/run-1/events') {
      response.writeHead(404).end();
      return;
    }
    asked.push(request.headers['last-event-id']?.toString());
    response.setHeader('content-type', 'text/event-stream');
    answers.shift()?.(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'token' });
  const store = client.run('run-1');
  onTestFinished(() => {
    store.close();
    client.close();
    server.close();
    server.closeAllConnections();
  });
  const until = async (phase: RunView['phase']): Promise<void> => {
    const look = () => store.getSnapshot().phase;
    await expect.poll(look, { interval: 5, timeout: 20_000 }).toBe(phase);
  };
  return { store, asked, until };
}

/** Returns the entries of the run in history, without the times at which they were rendered. */
const timeless = (entries: readonly object[]) =>
  entries.map((entry) => ({ ...entry, emittedAt: '' }));
const whole = toResponse(events.reduce(applyEvent, emptyResponse()))!;
const shown = timeless(responseToUpserts(whole, ''));

test('FR-001-18: a run that is read live gives the same result as its history, at whichever bytes the stream is cut', async () => {
  const all = Buffer.from(events.map(line).join(''));
  const middle = all.indexOf(Buffer.from('世')) + 1;
  const { store, asked, until } = await follow((response) => {
    response.write(all.subarray(0, middle));
    setTimeout(() => response.end(all.subarray(middle)), 50);
  });
  await until('live');
  await until('ended');
  expect(store.getSnapshot().response).toEqual(whole);
  expect(timeless(store.getSnapshot().entries)).toEqual(shown);
  expect(asked).toEqual([undefined]);
});

test('after the stream breaks, even in the middle of a character, reading continues after the last event', async () => {
  const second = Buffer.from(line(events[3]!));
  const middle = second.indexOf(Buffer.from('世')) + 1;
  const { store, asked, until } = await follow(
    (response) => {
      response.write(events.slice(0, 3).map(line).join(''));
      response.write(second.subarray(0, middle), () => response.destroy());
    },
    (response) => response.end(events.slice(3).map(line).join('')),
  );
  await until('ended');
  expect(asked).toEqual([undefined, 'run-1:2']);
  expect(timeless(store.getSnapshot().entries)).toEqual(shown);
});

test('if a run’s events are no longer stored, reading begins with the run’s snapshot and continues from there', async () => {
  const soFar = toResponse(events.slice(0, 3).reduce(applyEvent, emptyResponse()))!;
  const { store, asked, until } = await follow(
    (response) => response.end(`event: snapshot\nid: run-1:2\ndata: ${JSON.stringify(soFar)}\n\n`),
    (response) => response.end(events.slice(3).map(line).join('')),
  );
  await until('ended');
  expect(asked).toEqual([undefined, 'run-1:2']);
  expect(timeless(store.getSnapshot().entries)).toEqual(shown);
});

test('a request is repeated if the server was unavailable', async () => {
  const { asked, until } = await follow(
    (response) => response.destroy(),
    (response) => response.writeHead(503).end(),
    (response) => response.end(events.map(line).join('')),
  );
  await until('ended');
  expect(asked).toEqual([undefined, undefined, undefined]);
});

test('an empty answer ends the run; a refusal has a reason and is not retried', async () => {
  const over = await follow((response) => response.writeHead(204).end());
  await over.until('ended');
  const body = JSON.stringify({ error: { code: 'RUN_NOT_FOUND', message: 'There is no run.' } });
  const refused = await follow((response) => response.writeHead(404).end(body));
  await refused.until('failed');
  expect(refused.store.getSnapshot().problem).toMatchObject({ code: 'RUN_NOT_FOUND' });
  expect(refused.asked).toHaveLength(1);
});
