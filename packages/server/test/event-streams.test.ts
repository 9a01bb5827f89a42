import { randomUUID } from 'node:crypto';
import { type HistoryMessage, ServerMessage, StreamEvent } from '@liminal/protocol';
import { seed001Event, seed001Response } from '@liminal/protocol/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EventStreamReader } from './event-stream-reader.ts';
import { bearer, eventually, startServer, type TestServer } from './harness.ts';
import { rawRequest } from './raw-request.ts';

let server: TestServer;
let readers: EventStreamReader[];

beforeEach(async () => {
  readers = [];
  server = await startServer({ limits: { heartbeatMs: 100, streams: 3, bufferBytes: 64 * 1024 } });
});
afterEach(async () => {
  for (const reader of readers) reader.close();
  await server.close();
});

async function open(path: string, headers?: Record<string, string>): Promise<EventStreamReader> {
  const reader = await EventStreamReader.open(server.port, path, headers);
  readers.push(reader);
  return reader;
}

const follow = (sessionId: string, query = '', headers?: Record<string, string>) =>
  open(`/api/session/${sessionId}/stream${query}`, headers);

const ask = (path: string, headers: Record<string, string> = {}) =>
  rawRequest(server.port, { path, headers: { ...bearer, ...headers } });

async function createSession(): Promise<string> {
  const request = { cliType: 'scripted', projectDir: server.folder };
  return (await server.runtime.createSession(request)).sessionId;
}

const gauges = async () => (await ask('/metrics')).text;

/** Runs a complete turn with one text. */
async function playTurn(sessionId: string, text: string): Promise<string> {
  const { turnId } = await server.runtime.send(sessionId, 'hello');
  const message = server.agent.message(sessionId, `m-${turnId}`);
  message.more(text);
  message.done();
  server.agent.end(sessionId);
  await eventually(async () => (await server.runtime.getRun(turnId)).status).toBe('complete');
  return turnId;
}

const isEnd = ({ data }: { data: Record<string, unknown> }) =>
  (data['payload'] as { type: string }).type === 'turn_complete';

describe('a session as server-sent events', () => {
  test('the stream ends when the session is deleted', async () => {
    const sessionId = await createSession();
    const reader = await follow(sessionId);
    await reader.waitFor('info');
    await server.runtime.deleteSession(sessionId);
    await reader.end();
    expect(reader.events.at(-1)).toMatchObject({
      event: 'deleted',
      data: { type: 'session:deleted', sessionId },
    });
    expect((await ask(`/api/session/${sessionId}/stream`)).status).toBe(404);
  });

  test('the stream contains the same messages as the WebSocket, as named events whose id is the cursor', async () => {
    const sessionId = await createSession();
    const reader = await follow(sessionId);
    expect(reader.response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reader.response.headers['cache-control']).toBe('no-store');
    expect(reader.response.headers['content-security-policy']).toContain("default-src 'self'");
    await reader.waitFor('info');
    await playTurn(sessionId, 'Hi.');
    await reader.waitFor('turn', isEnd);
    expect(reader.events[0]).toMatchObject({ event: 'history', id: undefined });
    for (const { event, id, data } of reader.events) {
      const message = ServerMessage.parse(data);
      expect(message.type).toBe(`session:${event}`);
      expect(id).toBe(('cursor' in message ? message.cursor : undefined) || undefined);
    }
    expect(reader.of('upsert').at(-1)?.id).toBeDefined();
  });

  test('the stream continues after the event in Last-Event-ID', async () => {
    const sessionId = await createSession();
    await playTurn(sessionId, 'one');
    const reader = await follow(sessionId);
    const { id } = await reader.waitFor('history');
    reader.close();
    const turnId = await playTurn(sessionId, 'two');
    const again = await follow(sessionId, '?cursor=stale', { 'last-event-id': id! });
    const history = (await again.waitFor('history')).data as unknown as HistoryMessage;
    expect(history.resumed).toBe('tail');
    expect(history.turns.map((turn) => turn.turnId)).toEqual([turnId]);
    const byQuery = await follow(sessionId, `?cursor=${encodeURIComponent(id!)}`);
    expect((await byQuery.waitFor('history')).data).toMatchObject({ resumed: 'tail' });
  });

  test('the stream contains appends only if the request asks for them', async () => {
    const sessionId = await createSession();
    const [reader, plain] = [await follow(sessionId, '?deltas=1'), await follow(sessionId)];
    await Promise.all([reader.waitFor('info'), plain.waitFor('info')]);
    await server.runtime.send(sessionId, 'hello');
    const message = server.agent.message(sessionId);
    message.more('One ');
    await reader.waitFor(
      'upsert',
      ({ data }) => (data['payload'] as { itemId: string }).itemId === 'm',
    );
    message.more('two');
    expect((await reader.waitFor('append')).data).toMatchObject({
      itemId: 'm',
      at: 4,
      text: 'two',
    });
    message.done();
    server.agent.end(sessionId);
    await plain.waitFor('turn', isEnd);
    expect(plain.of('append')).toEqual([]);
  });

  test('the request for an unknown session is rejected with 404', async () => {
    expect(await ask('/api/session/nobody/stream')).toMatchObject({
      status: 404,
      code: 'SESSION_NOT_FOUND',
    });
    const sessionId = await createSession();
    expect(await ask(`/api/session/${sessionId}/stream?deltas=yes`)).toMatchObject({
      status: 400,
      code: 'INVALID_QUERY',
    });
  });

  test('the stream contains heartbeats, and ends when the server closes', async () => {
    const reader = await follow(await createSession());
    await reader.comment('heartbeat');
    void server.app.close();
    await reader.end();
    expect(reader.response.complete).toBe(true);
  });

  test('the stream counts as open until its client has disconnected', async () => {
    const sessionId = await createSession();
    const [first] = [await follow(sessionId), await follow(sessionId), await follow(sessionId)];
    const again = () => ask(`/api/session/${sessionId}/stream`);
    expect(await again()).toMatchObject({ status: 503, code: 'TOO_MANY_CONNECTIONS' });
    expect(await gauges()).toContain('liminal_event_streams 3\n');
    expect(await gauges()).toContain('liminal_subscriptions 3\n');
    first.close();
    await eventually(gauges).toContain('liminal_event_streams 2\n');
    expect(await gauges()).toContain('liminal_subscriptions 2\n');
  });

  test('if a client does not read, other clients are not delayed, and the client later gets the latest state', async () => {
    const sessionId = await createSession();
    const slow = await follow(sessionId, '?deltas=1');
    await slow.waitFor('info');
    slow.response.pause();
    slow.events.length = 0;
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    // This is more data than the kernel's buffers of a connection can hold. The data is sent in several parts.
    const piece = 'x'.repeat(256 * 1024);
    const pieces = 40;
    const message = server.agent.message(sessionId);
    for (let index = 1; index <= pieces; index += 1) {
      message.more(piece);
      await eventually(async () => (await server.runtime.getRun(turnId)).lastSeq).toBe(index + 3);
    }
    message.done();
    server.agent.end(sessionId);
    await eventually(async () => (await server.runtime.status(sessionId)).state).toBe('idle');

    slow.response.resume();
    // The kernel's buffers may still contain an earlier state, which then arrives first.
    const last = ({ data }: { data: unknown }) => (data as HistoryMessage).entries.at(-1);
    const history = await slow.waitFor('history', (event) => last(event)?.status === 'complete');
    expect(last(history)).toMatchObject({ content: piece.repeat(pieces) });
    expect(slow.of('append').length).toBeLessThan(pieces - 1);
  });
});

describe('a run as server-sent events', () => {
  const path = (runId: string) => `/api/run/${runId}/events`;

  test('FR-001-17: the stream of a live run contains canonical events, each with its id, and ends after the terminal event', async () => {
    const sessionId = await createSession();
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    const reader = await open(path(turnId));
    await reader.waitFor('response_start');
    const message = server.agent.message(sessionId);
    message.more('Hi.');
    message.done();
    server.agent.end(sessionId);
    await reader.end();
    const events = reader.events.map(({ data }) => StreamEvent.parse(data));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('response_done');
    for (const [index, { event, id }] of reader.events.entries()) {
      expect(event).toBe(events[index]!.type);
      expect(id).toBe(`${turnId}:${index}`);
    }
  });

  test('the stream continues after the event in Last-Event-ID', async () => {
    const sessionId = await createSession();
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    const reader = await open(path(turnId), { 'last-event-id': `${turnId}:1` });
    await reader.waitFor('item_done');
    expect(reader.events.map(({ id }) => id)).toEqual([`${turnId}:2`]);
  });

  test('for a run that has not begun, the stream waits if the request asks for it, and misses no event, however short the run is', async () => {
    const sessionId = await createSession();
    const turnId = randomUUID();
    const reader = await open(`${path(turnId)}?wait=1`);
    await server.runtime.send(sessionId, 'hello', turnId);
    server.agent.end(sessionId);
    await reader.end();
    const seqs = reader.events.map(({ data }) => StreamEvent.parse(data).seq);
    expect(seqs).toEqual([...seqs.keys()]);
    expect(reader.events.at(-1)?.event).toBe('response_done');
    expect(await ask(path(randomUUID()))).toMatchObject({ status: 404 });
  });

  test('the stream of a stored run contains one snapshot and then ends', async () => {
    const sessionId = await createSession();
    const turnId = await playTurn(sessionId, 'Hi.');
    await eventually(async () => (await open(path(turnId))).waitFor('snapshot')).toBeDefined();
    const reader = await open(path(turnId));
    const { id, data } = await reader.waitFor('snapshot');
    expect(data).toMatchObject({ id: turnId, status: 'complete' });
    await reader.end();
    expect(await ask(path(turnId), { 'last-event-id': id! })).toMatchObject({
      status: 204,
      text: '',
    });
  });

  test('the request is rejected for an unknown run, and for an event id of another run', async () => {
    expect(await ask(path('none'))).toMatchObject({ status: 404, code: 'RUN_NOT_FOUND' });
    const sessionId = await createSession();
    const turnId = await playTurn(sessionId, 'Hi.');
    for (const id of ['other:1', 'nonsense']) {
      expect(await ask(path(turnId), { 'last-event-id': id })).toMatchObject({
        status: 400,
        code: 'INVALID_CURSOR',
      });
    }
  });

  test('the stream has the form of seed 001 if the request asks for it: for a live run, after reconnecting with an id, and for a stored run', async () => {
    const sessionId = await createSession();
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    const other = `${path(turnId)}?format=responses`;
    const reader = await open(other);
    await reader.waitFor('response_start');
    const rest = await open(other, { 'last-event-id': `${turnId}:0` });
    const message = server.agent.message(sessionId);
    message.more('Hi.');
    message.done();
    server.agent.end(sessionId);
    await Promise.all([reader.end(), rest.end()]);
    expect(rest.events).toEqual(reader.events.slice(1));
    for (const { event, data } of reader.events) {
      expect(seed001Event.parse(data)).toEqual(data);
      expect(event).toBe(data['type']);
    }
    expect(reader.events.map(({ id }) => id)).toEqual(
      reader.events.map((_, index) => `${turnId}:${index}`),
    );
    expect(reader.events.at(-1)?.data).toMatchObject({
      run_id: turnId,
      payload: { type: 'response_done', response_id: turnId, status: 'complete' },
    });
    await eventually(async () => (await open(other)).waitFor('snapshot')).toBeDefined();
    const { data } = await (await open(other)).waitFor('snapshot');
    expect(seed001Response.parse(data)).toEqual(data);
    expect(data).toMatchObject({ id: turnId, status: 'complete' });
    expect(await ask(`${path(turnId)}?format=other`)).toMatchObject({ code: 'INVALID_QUERY' });
  });

  test('when its client has disconnected, the stream is closed', async () => {
    const sessionId = await createSession();
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    const reader = await open(path(turnId));
    await reader.waitFor('response_start');
    expect(await gauges()).toContain('liminal_event_streams 1\n');
    reader.close();
    await eventually(gauges).toContain('liminal_event_streams 0\n');
  });
});
