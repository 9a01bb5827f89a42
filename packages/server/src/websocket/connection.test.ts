import type { WebSocket } from '@fastify/websocket';
import type { Runtime, Sink } from '@liminal/runtime';
import { expect, test } from 'vitest';
import { Connections } from '../connections.ts';
import { defaultLimits } from '../limits.ts';
import { WebSocketConnection } from './connection.ts';

test('INV-9 the subscriptions of one socket are loaded one after another, and only while the socket has room', async () => {
  let bufferedAmount = 0;
  let sent = (): void => undefined;
  const socket = {
    OPEN: 1,
    readyState: 1,
    get bufferedAmount() {
      return bufferedAmount;
    },
    send: (_bytes: Buffer, _options: object, done: () => void) => (sent = done),
    pause: () => undefined,
    resume: () => undefined,
  };
  const sinks: Sink[] = [];
  const subscribe = (_id: string, _options: object, sink: Sink) => {
    sinks.push(sink);
    return { drained: () => undefined, close: () => undefined };
  };
  const connection = new WebSocketConnection(socket as unknown as WebSocket, {
    runtime: { subscribe } as unknown as Runtime,
    connections: new Connections(1),
    limits: defaultLimits,
  });
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const [a, b] = ['a', 'b'].map((sessionId) => {
    connection.receive(JSON.stringify({ type: 'session:subscribe', sessionId }));
    return sinks.at(-1);
  });
  a?.whenRoom?.(async () => {
    begun.push('a');
    await first.promise;
    bufferedAmount = defaultLimits.bufferBytes;
    connection.receive(JSON.stringify({ type: 'ping' }));
  });
  const second = Promise.withResolvers<void>();
  b?.whenRoom?.(async () => {
    begun.push('b');
    second.resolve();
  });
  expect(begun).toEqual(['a']);
  first.resolve();
  // The response for the first session fills the socket's buffer.
  await new Promise(setImmediate);
  expect(begun).toEqual(['a']);
  bufferedAmount = 0;
  sent();
  await second.promise;
  expect(begun).toEqual(['a', 'b']);
});
