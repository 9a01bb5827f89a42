import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCredentials, createReplayServer, listen } from '@liminal/server';
import { defaultLimits, type Limits } from '../src/limits.ts';
import { startServer, type TestServer, token } from './harness.ts';
import { head, RawConnection } from './raw-connection.ts';

const never = 24 * 60 * 60 * 1000;
const agents = 'GET /api/agents';
/** Whether the server has a second address. If the machine has IPv6, `localhost` has two addresses. */
const second = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
  ? '::1'
  : '127.0.0.2';

let server: Pick<TestServer, 'app' | 'port' | 'url' | 'close'>;
let address: string;
/** The request of a client with the token. */
let asked: string;
const opened: RawConnection[] = [];

beforeEach(() => {
  address = '127.0.0.1';
  asked = agents;
});

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await server.close();
});

async function start(limits: Partial<Limits>): Promise<void> {
  server = await startServer({ limits });
}

async function startReplay(limits: Partial<Limits>): Promise<void> {
  const app = await createReplayServer({
    file: { sessionId: 's1', read: async function* () {}, blobs: new Map() },
    version: '0',
    webDir: '/nowhere',
    credentials: createCredentials(token),
    host: '127.0.0.1',
    limits,
  });
  const url = await listen(app, { host: '127.0.0.1', port: 0 });
  server = { app, url, port: Number(new URL(url).port), close: () => app.close() };
  asked = 'GET /healthz';
}

/** Every kind of server, on each of its addresses. */
const servers: Record<string, (limits: Partial<Limits>) => Promise<void>> = {
  'the server': start,
  'its second address': async (limits) => {
    server = await startServer({ limits }, undefined, ['127.0.0.1', second]);
    address = second;
  },
  'the server of a replay': startReplay,
};

async function open(): Promise<RawConnection> {
  const connection = new RawConnection(server.port, address);
  opened.push(connection);
  return connection.opened();
}

async function known(): Promise<RawConnection> {
  const connection = await open();
  connection.send(head(server.port, asked));
  expect(await connection.answer()).toMatchObject({ status: 200 });
  return connection;
}

/** Ways in which strangers can occupy all connections that strangers may have. */
const ways: Record<string, (connection: RawConnection) => Promise<unknown>> = {
  'send nothing': async () => undefined,
  'send a part of a head': async (connection) => connection.send('GET /healthz HTT'),
  'send a request that needs no token': async (connection) => {
    connection.send(head(server.port, 'GET /healthz', { authorization: 'none' }));
    await connection.answer();
  },
  'send a request without a token': async (connection) => {
    connection.send(head(server.port, agents, { authorization: 'none' }));
    await connection.answer();
  },
  'begin an upload without a token': async (connection) => {
    const headers = { authorization: 'none', origin: server.url, 'content-length': 1e6 };
    connection.send(head(server.port, 'POST /api/blob', headers));
    await connection.answer();
  },
};

const everywhere = Object.keys(servers).flatMap((name) =>
  Object.keys(ways).map((way) => ({ name, way })),
);

test.each(everywhere)(
  'SAFE: while many connections without credentials $way at $name, signed-in clients stay connected and can open new connections',
  async ({ name, way }) => {
    const hold = ways[way]!;
    await servers[name]!({ connections: 24, strangers: 6, headMs: never, drainMs: never });
    const stays = await known();
    const strangers: RawConnection[] = [];
    for (let count = 0; count < 60; count += 1) {
      const stranger = await open();
      strangers.push(stranger);
      await hold(stranger).catch(() => undefined);
    }
    await Promise.all(strangers.slice(0, 54).map(({ closed }) => closed));
    expect(strangers.filter(({ isClosed }) => !isClosed)).toHaveLength(6);
    await known();
    stays.send(head(server.port, asked));
    expect(await stays.answer()).toMatchObject({ status: 200 });
  },
);

describe.each(Object.keys(servers))('at %s', (name) => {
  const heads = {
    'without a token': () => head(server.port, 'GET /healthz', { authorization: 'none' }),
    'with a token': () => head(server.port, 'GET /healthz'),
    'that expects something': () => head(server.port, 'GET /healthz', { expect: 'more' }),
  };

  test.each(Object.keys(heads) as (keyof typeof heads)[])(
    'SAFE: if one packet contains thousands of requests %s, the connection is ended',
    async (kind) => {
      await servers[name]!({ pipelined: 3, headMs: never });
      const handedOver = vi.fn<() => void>();
      for (const event of ['request', 'checkExpectation']) {
        server.app.server.prependListener(event, () => handedOver());
      }
      const many = await open();
      many.send(heads[kind]().repeat(2_000));
      await many.closed;
      // The first request over the limit ends the connection. The server does not read the following requests.
      expect(handedOver).toHaveBeenCalledTimes(4);
    },
  );

  test('if as many requests as the limit allows arrive together, they are answered in order', async () => {
    await servers[name]!({ pipelined: 3 });
    const few = await known();
    few.send(head(server.port, asked).repeat(2) + head(server.port, 'GET /api/nothing'));
    const statuses = [await few.answer(), await few.answer(), await few.answer()];
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 404]);
    // After these responses, the server accepts further requests.
    few.send(head(server.port, asked).repeat(3));
    for (let count = 0; count < 3; count += 1) {
      expect(await few.answer()).toMatchObject({ status: 200 });
    }
  });

  test('SAFE: a connection on which the client sends nothing is closed without a response', async () => {
    await servers[name]!({ headMs: 200 });
    const silent = await open();
    await silent.closed;
    expect(silent.received).toBe('');
  });
});

test('SAFE: if the head of a request arrives too slowly, the request is refused with 408', async () => {
  // Long enough for the start of the head to arrive on a busy machine.
  await start({ headMs: 1_000 });
  const slow = await open();
  slow.send('GET /healthz HTTP/1.1\r\nhost: ');
  expect(await slow.answer()).toEqual({
    status: 408,
    error: {
      code: 'REQUEST_TIMEOUT',
      message: 'The rest of the request did not arrive in time. Send the request again.',
    },
  });
  await slow.closed;
});

test('SAFE: between requests, a stranger’s connection is closed, while a signed-in client’s connection stays open', async () => {
  // Long enough for a request to arrive on a busy machine.
  await start({ headMs: 1_000 });
  const stays = await known();
  for (const way of ['send a request that needs no token', 'send a request without a token']) {
    const stranger = await open();
    await ways[way]!(stranger);
    await stranger.closed;
  }
  stays.send(head(server.port, agents));
  expect(await stays.answer()).toMatchObject({ status: 200 });
});

test('the number of connections without credentials has a lower limit than the number of all connections', async () => {
  await start({});
  expect(server.app.server.maxConnections).toBe(defaultLimits.connections);
  expect(defaultLimits.strangers).toBeLessThan(defaultLimits.connections / 2);
});
