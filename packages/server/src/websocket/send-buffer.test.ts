import type { WebSocket } from '@fastify/websocket';
import { expect, test } from 'vitest';
import { SendBuffer } from './send-buffer.ts';

/** Creates a socket whose client reads nothing until `take` is called. */
function slowSocket() {
  const waiting: { size: number; sent: (error?: Error) => void }[] = [];
  const socket = {
    OPEN: 1,
    readyState: 1,
    isPaused: false,
    pause: () => void (socket.isPaused = true),
    resume: () => void (socket.isPaused = false),
    get bufferedAmount() {
      return waiting.reduce((sum, { size }) => sum + size, 0);
    },
    send: (message: Buffer, _options: object, sent: () => void) => {
      waiting.push({ size: message.length, sent });
    },
    pong: (data: Buffer, _mask: boolean, sent: () => void) => {
      waiting.push({ size: data.length, sent });
    },
  };
  return {
    socket: socket as unknown as WebSocket,
    take: (count: number) => {
      for (const { sent } of waiting.splice(0, count)) sent();
    },
    terminate: () => {
      socket.readyState = 2;
      for (const { sent } of waiting.splice(0)) sent(new Error('Gone.'));
    },
  };
}

const kilobyte = Buffer.alloc(1_000);

test('INV-9 a send buffer is full when enough bytes are waiting, and drained when only few bytes are left', () => {
  const { socket, take } = slowSocket();
  let drained = 0;
  const outbox = new SendBuffer(socket, 20_000, () => (drained += 1));
  const taken = Array.from({ length: 12 }, () => outbox.send(kilobyte));
  // The buffer counts more than the bytes of a message.
  expect(taken.indexOf(false)).toBe(6);
  take(10);
  expect([outbox.isFull, drained]).toEqual([true, 0]);
  take(1);
  expect([outbox.isFull, drained]).toEqual([false, 1]);
});

test('INV-9 many small messages also fill a send buffer, because each message is counted with a minimum size', () => {
  const outbox = new SendBuffer(slowSocket().socket, 20_000, () => {});
  const taken = Array.from({ length: 30 }, () => outbox.send(Buffer.from('{}')));
  expect(taken.indexOf(false)).toBeLessThan(20);
});

test('SAFE: if a socket is closed while its send buffer is full, the buffer does not report that it has drained', () => {
  const { socket, terminate } = slowSocket();
  let drained = 0;
  const outbox = new SendBuffer(socket, 10_000, () => (drained += 1));
  for (let n = 0; n < 12; n += 1) outbox.send(kilobyte);
  expect(outbox.isFull).toBe(true);
  terminate();
  expect(drained).toBe(0);
});

test.each(['answers', 'pongs'])(
  'SAFE: while %s wait for a client, the server reads nothing more from that client',
  (kind) => {
    const { socket, take } = slowSocket();
    const outbox = new SendBuffer(socket, 20_000, () => {});
    let asked = 0;
    for (; asked < 100 && !socket.isPaused; asked += 1) {
      if (kind === 'pongs') outbox.pong(Buffer.from('?'));
      else outbox.send(Buffer.from('{}'));
    }
    expect([socket.isPaused, asked < 20]).toEqual([true, true]);
    take(asked);
    expect(socket.isPaused).toBe(false);
  },
);
