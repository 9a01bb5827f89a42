import { once } from 'node:events';
import type { UpsertObject } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { bearer, eventually, startServer, type TestServer } from './harness.ts';
import { rawRequest, upgradeHeaders } from './raw-request.ts';
import { SocketReader } from './socket-reader.ts';

const limits = { subscriptionsPerSocket: 2, streams: 4, bufferBytes: 64 * 1024 };

let server: TestServer;
let readers: SocketReader[];

beforeEach(async () => {
  readers = [];
  server = await startServer({ limits });
});
afterEach(async () => {
  for (const reader of readers) reader.close();
  await server.close();
});

async function open(): Promise<SocketReader> {
  const reader = await SocketReader.open(server.port);
  readers.push(reader);
  return reader;
}

async function createSession(): Promise<string> {
  const request = { cliType: 'scripted', projectDir: server.folder };
  return (await server.runtime.createSession(request)).sessionId;
}

async function subscribe(sessionId: string, options: { cursor?: string; deltas?: boolean } = {}) {
  const reader = await open();
  reader.send({ type: 'session:subscribe', sessionId, ...options });
  await reader.waitFor('session:info');
  return reader;
}

describe('following a session', () => {
  test('the subscription begins with the session’s history and info', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId);
    expect(reader.messages.map((message) => message.type)).toEqual([
      'session:history',
      'session:info',
    ]);
    expect(reader.messages[0]).toMatchObject({ sessionId, resumed: 'snapshot', entries: [] });
    expect(reader.messages[1]).toMatchObject({ info: { session: { sessionId, state: 'idle' } } });
  });

  test('a turn is sent as upserts whose content grows, from the turn’s start to its end', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId);
    const { turnId } = await server.runtime.send(sessionId, 'hello');
    const message = server.agent.message(sessionId);
    for (let word = 0; word < 60; word += 1) message.more(`word${word} `);
    message.done();
    server.agent.end(sessionId);
    const end = await reader.waitFor(
      'session:turn',
      ({ payload }) => payload.type === 'turn_complete',
    );
    expect(end.payload).toMatchObject({ turnId, status: 'completed' });

    const upserts = reader.of('session:upsert').map(({ payload }) => payload);
    const own = upserts.filter((upsert) => upsert.itemId === 'm' && upsert.type === 'message');
    expect(own[0]).toMatchObject({ status: 'create', turnId });
    expect(own.at(-1)).toMatchObject({ status: 'complete' });
    const contents = own.map((upsert) => (upsert.type === 'message' ? upsert.content : ''));
    for (const [index, content] of contents.entries()) {
      expect(contents.at(-1)!.startsWith(content)).toBe(true);
      expect(content.length).toBeGreaterThanOrEqual(contents[index - 1]?.length ?? 0);
    }
    expect(contents.at(-1)).toContain('word59');
  });

  test('a tool call is sent when it begins and when its result arrives', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId);
    await server.runtime.send(sessionId, 'list');
    const call = {
      id: 'c',
      type: 'function_call',
      name: 'Bash',
      callId: 'x',
      origin: 'agent',
    } as const;
    server.agent.emit(sessionId, {
      type: 'item_start',
      itemId: 'c',
      itemType: 'function_call',
      name: 'Bash',
      callId: 'x',
    });
    server.agent.emit(sessionId, {
      type: 'item_done',
      itemId: 'c',
      finalItem: { ...call, arguments: '{"command":"ls"}' },
    });
    server.agent.emit(sessionId, {
      type: 'item_start',
      itemId: 'o',
      itemType: 'function_call_output',
      callId: 'x',
    });
    server.agent.emit(sessionId, {
      type: 'item_done',
      itemId: 'o',
      finalItem: {
        id: 'o',
        type: 'function_call_output',
        callId: 'x',
        output: 'a.txt',
        success: true,
        origin: 'system',
      },
    });
    server.agent.end(sessionId);
    await reader.waitFor('session:turn', ({ payload }) => payload.type === 'turn_complete');
    const upserts = reader.of('session:upsert').map(({ payload }) => payload);
    const calls = upserts.filter((upsert) => upsert.type === 'tool_call');
    expect(calls[0]).toMatchObject({ status: 'create', toolName: 'Bash', callId: 'x' });
    expect(calls.at(-1)).toMatchObject({
      status: 'complete',
      toolArguments: { command: 'ls' },
      toolOutput: 'a.txt',
    });
  });

  test('a client that wants deltas gets text as consecutive appends', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId, { deltas: true });
    await server.runtime.send(sessionId, 'hello');
    const message = server.agent.message(sessionId);
    message.more('One ');
    await reader.waitFor('session:upsert', ({ payload }) => payload.itemId === 'm');
    message.more('two ');
    await reader.waitFor('session:append');
    message.more('three');
    message.done();
    server.agent.end(sessionId);
    await reader.waitFor('session:turn', ({ payload }) => payload.type === 'turn_complete');

    let text = '';
    for (const each of reader.messages) {
      if (each.type === 'session:upsert' && each.payload.type === 'message') {
        if (each.payload.itemId === 'm') text = each.payload.content;
      }
      if (each.type !== 'session:append') continue;
      expect(each.at).toBe(text.length);
      text += each.text;
    }
    expect(text).toBe('One two three');
  });

  test.each(['tour', 'plan', 'subagent', 'error'])(
    'FR-001-19: the demo’s %s is sent so that the final state equals the stored state',
    async (scene) => {
      const { sessionId } = await server.runtime.createSession({
        cliType: 'demo',
        projectDir: server.folder,
        options: { configOptions: { pace: 'instant' } },
      });
      const [full, deltas] = [
        await subscribe(sessionId),
        await subscribe(sessionId, { deltas: true }),
      ];
      await server.runtime.send(sessionId, scene);
      const isOver = ({ payload }: { payload: { type: string } }) =>
        payload.type === 'turn_complete' || payload.type === 'turn_error';
      await Promise.all([
        full.waitFor('session:turn', isOver),
        deltas.waitFor('session:turn', isOver),
      ]);
      const { entries } = await server.runtime.history(sessionId);
      const stored = entries.map(withoutTimes);
      expect(stored.length).toBeGreaterThan(2);
      expect(heldItems(full).map(withoutTimes)).toEqual(stored);
      expect(heldItems(deltas).map(withoutTimes)).toEqual(stored);
    },
  );

  test('a subscription with a cursor continues with the missing part', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId);
    await server.runtime.send(sessionId, 'one');
    server.agent.end(sessionId);
    const { cursor } = await reader.waitFor(
      'session:turn',
      ({ payload }) => payload.type === 'turn_complete',
    );
    reader.close();
    const { turnId } = await server.runtime.send(sessionId, 'two');
    const again = await subscribe(sessionId, { cursor });
    const [history] = again.of('session:history');
    expect(history).toMatchObject({ resumed: 'tail', turns: [{ turnId }] });
    expect(history!.entries).toMatchObject([{ turnId, type: 'message', content: 'two' }]);
  });

  test('a subscription with an unknown cursor gets a snapshot', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId, { cursor: 'nonsense' });
    expect(reader.of('session:history')[0]).toMatchObject({ resumed: 'snapshot' });
  });

  test('a second subscription replaces the first, and each item is still sent once', async () => {
    const sessionId = await createSession();
    const reader = await subscribe(sessionId);
    reader.forget();
    reader.send({ type: 'session:subscribe', sessionId });
    await reader.waitFor('session:info');
    await server.runtime.send(sessionId, 'hello');
    server.agent.end(sessionId);
    await reader.waitFor('session:turn', ({ payload }) => payload.type === 'turn_complete');
    expect(reader.of('session:turn')).toHaveLength(2);
  });

  test('the subscription ends when the client unsubscribes', async () => {
    const sessionId = await createSession();
    const [reader, witness] = [await subscribe(sessionId), await subscribe(sessionId)];
    reader.send({ type: 'session:unsubscribe', sessionId });
    reader.send({ type: 'ping' });
    await reader.waitFor('pong');
    reader.forget();
    await server.runtime.send(sessionId, 'hello');
    server.agent.end(sessionId);
    await witness.waitFor('session:turn', ({ payload }) => payload.type === 'turn_complete');
    reader.send({ type: 'ping' });
    await reader.waitFor('pong');
    expect(reader.messages).toEqual([{ type: 'pong' }]);
  });

  test('a subscription to an unknown session gets an error that contains the session’s id', async () => {
    const reader = await open();
    reader.send({ type: 'session:subscribe', sessionId: 'nobody' });
    expect(await reader.waitFor('session:error')).toMatchObject({
      sessionId: 'nobody',
      code: 'SESSION_NOT_FOUND',
    });
  });
});

describe('following the list of sessions', () => {
  test('all sessions are sent once, and then each session that changes', async () => {
    const reader = await open();
    reader.send({ type: 'sessions:subscribe' });
    expect(await reader.waitFor('sessions:changed')).toEqual({
      type: 'sessions:changed',
      sessions: [],
    });
    const sessionId = await createSession();
    await reader.waitFor(
      'sessions:changed',
      ({ sessions }) => sessions[0]?.sessionId === sessionId,
    );
    await server.runtime.send(sessionId, 'hello');
    await reader.waitFor('sessions:changed', ({ sessions }) => sessions[0]?.state === 'running');
    const late = await open();
    late.send({ type: 'sessions:subscribe' });
    expect((await late.waitFor('sessions:changed')).sessions).toMatchObject([{ sessionId }]);
  });
});

test('if a session is deleted, the subscribers of the session and of the list are notified, and can subscribe to another session', async () => {
  const [reader, list] = [await open(), await open()];
  const ids = [await createSession(), await createSession(), await createSession()];
  for (const sessionId of ids.slice(0, 2)) reader.send({ type: 'session:subscribe', sessionId });
  list.send({ type: 'sessions:subscribe' });
  await reader.waitFor('session:history', (message) => message.sessionId === ids[1]);
  await list.waitFor('sessions:changed', ({ sessions }) => sessions.length > 2);
  await server.runtime.deleteSession(ids[0]!);
  await reader.waitFor('session:deleted', ({ sessionId }) => sessionId === ids[0]);
  await list.waitFor('sessions:changed', ({ removed }) => removed?.[0] === ids[0]);
  // The deleted session no longer counts toward the connection's limit.
  reader.send({ type: 'session:subscribe', sessionId: ids[2]! });
  await reader.waitFor('session:history', (message) => message.sessionId === ids[2]);
  expect(reader.of('session:error')).toEqual([]);
});

describe('bounds', () => {
  test('one connection cannot subscribe to more sessions than the limit allows', async () => {
    const ids = [await createSession(), await createSession(), await createSession()];
    const reader = await open();
    for (const sessionId of ids) reader.send({ type: 'session:subscribe', sessionId });
    expect(await reader.waitFor('session:error')).toMatchObject({
      code: 'TOO_MANY_SUBSCRIPTIONS',
      sessionId: ids[2],
    });
    reader.send({ type: 'session:unsubscribe', sessionId: ids[0]! });
    reader.send({ type: 'session:subscribe', sessionId: ids[2]! });
    await reader.waitFor('session:history', (message) => message.sessionId === ids[2]);
    expect(reader.of('session:error')).toHaveLength(1);
  });

  test('the server rejects connections over the limit until an open connection ends', async () => {
    const [first] = [await open(), await open(), await open(), await open()];
    const headers = { ...upgradeHeaders, ...bearer };
    const upgrade = () => rawRequest(server.port, { path: '/ws', headers });
    expect(await upgrade()).toMatchObject({ status: 503, code: 'TOO_MANY_CONNECTIONS' });
    first.close();
    await eventually(async () => (await upgrade()).status).toBe(101);
  });

  test('if a client does not read, other clients are not delayed, and the client later gets the latest state', async () => {
    const sessionId = await createSession();
    const [slow, quick] = [
      await subscribe(sessionId, { deltas: true }),
      await subscribe(sessionId, { deltas: true }),
    ];
    slow.socket.pause();
    slow.forget();
    await server.runtime.send(sessionId, 'hello');
    // This is more data than the kernel's buffers of a connection can hold. The data is sent in several parts.
    const piece = 'x'.repeat(256 * 1024);
    const pieces = 40;
    const message = server.agent.message(sessionId);
    for (let index = 0; index < pieces; index += 1) {
      message.more(piece);
      const length = (index + 1) * piece.length;
      await eventually(() => heldLength(quick)).toBe(length);
    }
    message.done();
    server.agent.end(sessionId);
    await eventually(async () => (await server.runtime.status(sessionId)).state).toBe('idle');

    slow.socket.resume();
    const history = await slow.waitFor('session:history');
    expect(history.entries.find((entry) => entry.itemId === 'm')).toMatchObject({
      status: 'complete',
      content: piece.repeat(pieces),
    });
    const received = slow.of('session:append').length + slow.of('session:upsert').length;
    expect(received).toBeLessThan(pieces);
  });
});

/**
 * Returns a client's final state as the page would show it: the last upsert of each item, in the order of the first
 * upserts.
 */
function heldItems(reader: SocketReader): UpsertObject[] {
  const items = new Map<string, UpsertObject>();
  for (const message of reader.messages) {
    if (message.type === 'session:upsert') items.set(message.payload.itemId, message.payload);
    if (message.type === 'session:discard') items.delete(message.itemId);
  }
  return [...items.values()];
}

/** Times are removed, because the times of live items differ from the times in history. */
function withoutTimes(upsert: UpsertObject): UpsertObject {
  return { ...upsert, emittedAt: '' };
}

/** Returns the length of the message `m` in a client's state. */
function heldLength(reader: SocketReader): number {
  let length = 0;
  for (const message of reader.messages) {
    if (message.type === 'session:append') length = message.at + message.text.length;
    const items =
      message.type === 'session:upsert'
        ? [message.payload]
        : message.type === 'session:history'
          ? message.entries
          : [];
    for (const item of items) {
      if (item.type === 'message' && item.itemId === 'm') length = item.content.length;
    }
  }
  return length;
}

describe('liveness', () => {
  beforeEach(async () => {
    await server.close();
    // Long enough for a pong on a busy machine.
    server = await startServer({ limits: { heartbeatMs: 500 } });
  });

  test('a ping is answered', async () => {
    const reader = await open();
    reader.send({ type: 'ping' });
    expect(await reader.waitFor('pong')).toEqual({ type: 'pong' });
  });

  test('if a client answers nothing, its connection is ended', async () => {
    const reader = await open();
    // The client answers no pings, like a client that has lost its network.
    reader.socket.pause();
    await eventually(() => server.app.websocketServer.clients.size).toBe(0);
    reader.socket.resume();
    // 1006: the connection ended without a close frame.
    expect((await once(reader.socket, 'close'))[0]).toBe(1006);
  });

  test('if a client sends only pongs, its connection stays open', async () => {
    const reader = await open();
    for (let pings = 0; pings < 4; pings += 1) await once(reader.socket, 'ping');
    expect(server.app.websocketServer.clients.size).toBe(1);
  });

  test('when the server stops, it closes all connections with 1001', async () => {
    const reader = await open();
    const closed = once(reader.socket, 'close');
    void server.app.close();
    expect((await closed)[0]).toBe(1001);
  });
});

test('SAFE: if a packet contains several frames, each frame is handled in its own turn of the event loop', async () => {
  const reader = await open();
  const [socket] = server.app.websocketServer.clients;
  let turn = 0;
  const taken: number[] = [];
  const count = (): void => {
    turn += 1;
    if (taken.length < 50) setImmediate(count);
  };
  count();
  socket?.on('message', () => taken.push(turn));
  // Both sides run in this process. Data that is written together is sent together.
  for (let frames = 0; frames < 50; frames += 1) reader.send({ type: 'ping' });
  await eventually(() => taken.length).toBe(50);
  expect(new Set(taken).size).toBe(50);
});
