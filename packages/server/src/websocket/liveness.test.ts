import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { answerPings, watchLiveness } from './liveness.ts';

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  isPaused = false;
  bufferedAmount = 0;
  pings = 0;
  readonly pongs: Buffer[] = [];
  isEnded = false;

  ping(): void {
    this.pings += 1;
  }

  pong(data: Buffer): void {
    this.pongs.push(data);
  }

  terminate(): void {
    this.isEnded = true;
    this.emit('close');
  }

  get asWebSocket(): WebSocket {
    return this as unknown as WebSocket;
  }
}

describe('a connection', () => {
  let socket: FakeSocket;
  let raw: { bytesWritten: number; writableLength: number };

  beforeEach(() => {
    vi.useFakeTimers();
    socket = new FakeSocket();
    raw = { bytesWritten: 0, writableLength: 0 };
    watchLiveness(socket.asWebSocket, 1_000, raw as Socket);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const interval = (): void => void vi.advanceTimersByTime(1_000);

  test.each(['pong', 'message'])(
    'a connection stays open if its client sends a %s in each interval',
    (event) => {
      for (let count = 0; count < 5; count += 1) {
        interval();
        socket.emit(event);
      }
      expect([socket.isEnded, socket.pings]).toEqual([false, 5]);
    },
  );

  test('a connection ends, and its timer stops, if its client answers nothing for a whole interval', () => {
    interval();
    expect(socket.isEnded).toBe(false);
    interval();
    expect(socket.isEnded).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('SAFE: if the socket is paused, the connection stays open only while its client accepts some of the waiting bytes', () => {
    socket.isPaused = true;
    Object.assign(raw, { bytesWritten: 5_000, writableLength: 4_000 });
    interval();
    for (const writableLength of [3_000, 2_999]) {
      raw.writableLength = writableLength;
      interval();
      expect(socket.isEnded, `${writableLength} bytes wait`).toBe(false);
    }
    // The server sent more bytes to the client, but the client accepted none of them.
    Object.assign(raw, { bytesWritten: 6_000, writableLength: 3_999 });
    interval();
    expect(socket.isEnded).toBe(true);
  });

  test('SAFE: if a client accepts data but answers no ping, its connection ends, unless the socket is paused', () => {
    interval();
    raw.bytesWritten = 5_000;
    interval();
    expect(socket.isEnded).toBe(true);
  });
});

describe('a ping', () => {
  const ping = Buffer.from('?');

  test.each([0, 64 * 1024])(
    'a ping is answered with its own data while at most %i bytes wait',
    (bufferedAmount) => {
      const socket = Object.assign(new FakeSocket(), { bufferedAmount });
      answerPings(socket.asWebSocket);
      socket.emit('ping', ping);
      expect([socket.pongs, socket.isEnded]).toEqual([[ping], false]);
    },
  );

  test('SAFE: a ping ends the connection if the client does not read the answers', () => {
    const socket = Object.assign(new FakeSocket(), { bufferedAmount: 64 * 1024 + 1 });
    answerPings(socket.asWebSocket);
    socket.emit('ping', ping);
    expect([socket.pongs, socket.isEnded]).toEqual([[], true]);
  });

  test('a ping is not answered on a connection that is closing', () => {
    const socket = Object.assign(new FakeSocket(), { readyState: 2 });
    answerPings(socket.asWebSocket);
    socket.emit('ping', ping);
    expect(socket.pongs).toEqual([]);
  });
});
