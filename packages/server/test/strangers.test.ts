import { afterEach, expect, test } from 'vitest';
import { defaultLimits, type Limits } from '../src/limits.ts';
import { startServer, type TestServer } from './harness.ts';
import { head, RawConnection } from './raw-connection.ts';

const NEVER = 24 * 60 * 60 * 1000;
const agents = 'GET /api/agents';

let server: TestServer;
const opened: RawConnection[] = [];

afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy();
  await server.close();
});

async function start(limits: Partial<Limits>): Promise<void> {
  server = await startServer({ limits });
}

async function open(): Promise<RawConnection> {
  const connection = new RawConnection(server.port);
  opened.push(connection);
  return connection.opened();
}

async function known(): Promise<RawConnection> {
  const connection = await open();
  connection.send(head(server.port, agents));
  expect(await connection.answer()).toMatchObject({ status: 200 });
  return connection;
}

/** Strangers that hold all of their places in these ways. */
const ways: Record<string, (connection: RawConnection) => Promise<unknown>> = {
  'send nothing': async () => undefined,
  'send a part of a head': async (connection) => connection.send('GET /healthz HTT'),
  'send a request that anybody may': async (connection) => {
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

test.each(Object.entries(ways))(
  'SAFE: while many strangers %s, those who are signed in stay and get in',
  async (_, hold) => {
    await start({ connections: 24, strangers: 6, headMs: NEVER, drainMs: NEVER });
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
    stays.send(head(server.port, agents));
    expect(await stays.answer()).toMatchObject({ status: 200 });
  },
);

test('SAFE: a connection on which nothing is sent is closed without a word', async () => {
  await start({ headMs: 200 });
  const silent = await open();
  await silent.closed;
  expect(silent.received).toBe('');
});

test('SAFE: a head that comes too slowly is refused with 408', async () => {
  await start({ headMs: 200 });
  const slow = await open();
  slow.send('GET /healthz HTTP/1.1\r\nhost: ');
  expect(await slow.answer()).toEqual({
    status: 408,
    error: {
      code: 'REQUEST_TIMEOUT',
      message: 'The rest of the request did not come in time. Send the request again.',
    },
  });
  await slow.closed;
});

test('SAFE: a stranger’s connection does not stay open between requests, a known one does', async () => {
  await start({ headMs: 200 });
  const stays = await known();
  for (const way of ['send a request that anybody may', 'send a request without a token']) {
    const stranger = await open();
    await ways[way]!(stranger);
    await stranger.closed;
  }
  stays.send(head(server.port, agents));
  expect(await stays.answer()).toMatchObject({ status: 200 });
});

test('strangers have fewer places than those who are signed in', async () => {
  await start({});
  expect(server.app.server.maxConnections).toBe(defaultLimits.connections);
  expect(defaultLimits.strangers).toBeLessThan(defaultLimits.connections / 2);
});
