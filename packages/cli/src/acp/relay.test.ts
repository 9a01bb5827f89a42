import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { defaultLimits } from '@liminal/server';
import { expect, onTestFinished, test } from 'vitest';
import type { LineConnection } from './line-connection.ts';
import { type JsonRpcMessage, maxMessageBytes } from './json-rpc.ts';
import { AcpRelay } from './relay.ts';

/** A fake server to which the relay is connected. */
class FakeServer implements LineConnection {
  readonly received: JsonRpcMessage[] = [];
  readonly #closed = Promise.withResolvers<void>();
  readonly closed = this.#closed.promise;
  readonly #onLine: (line: string) => void;
  #changed = Promise.withResolvers<void>();

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  send(message: JsonRpcMessage): void {
    this.#onLine(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  async hears(count: number): Promise<JsonRpcMessage> {
    while (this.received.length < count) await this.#changed.promise;
    return this.received[count - 1]!;
  }

  goes(): void {
    this.#closed.resolve();
  }

  write(line: string): boolean {
    this.received.push(JSON.parse(line) as JsonRpcMessage);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    return true;
  }

  pause(): void {}
  resume(): void {}
  async close(): Promise<void> {
    this.goes();
  }
}

/** Starts a relay with a client. Several servers are connected to the relay, one after another. */
function relayed() {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const told = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const waiting: ((server: FakeServer) => void)[] = [];
  const servers: FakeServer[] = [];
  const relay = new AcpRelay({
    stdin,
    stdout,
    connect: async (onLine, needed) => {
      await needed;
      const server = new FakeServer(onLine);
      const wanted = waiting.shift();
      if (wanted) wanted(server);
      else servers.push(server);
      return server;
    },
  });
  const running = relay.run();
  onTestFinished(async () => {
    // The client leaves, and reads no more responses.
    stdin.destroy();
    await running;
  });
  return {
    says: (message: JsonRpcMessage, before = '') => {
      stdin.write(`${before}${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    },
    hears: async () => JSON.parse((await told.next()).value as string) as JsonRpcMessage,
    server: async () =>
      servers.shift() ?? (await new Promise<FakeServer>((resolve) => waiting.push(resolve))),
  };
}

const initialize = { id: 'a', method: 'initialize', params: { protocolVersion: 1 } };

test('if the second server is lost while the relay opens the sessions on it, a message waits for the third server', async () => {
  const { says, hears, server } = relayed();
  const first = await server();
  says(initialize);
  await first.hears(1);
  first.send({ id: 'a', result: {} });
  expect(await hears()).toMatchObject({ id: 'a' });
  says({ id: 'lost', method: 'session/list', params: {} });
  await first.hears(2);
  first.goes();
  expect(await hears()).toMatchObject({ id: 'lost', error: { data: { code: 'SERVER_LOST' } } });
  says({ id: 'b', method: 'session/list', params: {} });
  const second = await server();
  expect(await second.hears(1)).toMatchObject({ method: 'initialize' });
  second.goes();

  const third = await server();
  const { id } = await third.hears(1);
  third.send({ id: id!, result: {} });
  expect(await third.hears(2)).toMatchObject({ id: 'b', method: 'session/list' });
  third.send({ id: 'b', result: { sessions: [] } });
  expect(await hears()).toMatchObject({ id: 'b', result: { sessions: [] } });
});

test('a question of a lost server is closed, and the client’s answer does not reach a question of the next server with the same id', async () => {
  const { says, hears, server } = relayed();
  const first = await server();
  first.send({ id: 0, method: 'session/request_permission', params: {} });
  expect(await hears()).toMatchObject({ id: 0 });
  first.goes();
  expect(await hears()).toMatchObject({ method: '$/cancel_request', params: { requestId: 0 } });
  says({ id: 'b', method: 'session/list', params: {} });
  const second = await server();
  await second.hears(1);
  second.send({ id: 0, method: 'session/request_permission', params: {} });
  const { id } = await hears();
  expect(id).not.toBe(0);
  says({ id: 0, error: { code: -32_800, message: 'Cancelled.' } });
  says({ id: id!, result: { outcome: 'yes' } });
  expect(await second.hears(2)).toMatchObject({ id: 0, result: { outcome: 'yes' } });
  second.send({ id: 1, method: 'session/request_permission', params: {} });
  const { id: last } = await hears();
  second.send({ method: '$/cancel_request', params: { requestId: 1 } });
  expect(await hears()).toMatchObject({ params: { requestId: last } });
});

test('a byte order mark before the client’s first message is ignored', async () => {
  const { says, server } = relayed();
  const first = await server();
  says(initialize, '\uFEFF');
  expect(await first.hears(1)).toMatchObject({ method: 'initialize' });
});

test('an answer to a closed question does not start another server', async () => {
  const stdin = new PassThrough();
  let isNeeded = false;
  const server = new FakeServer(() => {});
  const asked = Promise.withResolvers<void>();
  const relay = new AcpRelay({
    stdin,
    stdout: new PassThrough(),
    connect: async (_onLine, needed) => {
      if (needed === undefined) return server;
      asked.resolve();
      await needed;
      isNeeded = true;
      return server;
    },
  });
  const running = relay.run();
  server.goes();
  await asked.promise;
  stdin.end('{"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"Cancelled."}}\n');
  await once(stdin, 'end');
  await running;
  expect(isNeeded).toBe(false);
});

test('the relay and the server accept messages up to the same size', () => {
  expect(maxMessageBytes).toBe(defaultLimits.acpMessageBytes);
});
