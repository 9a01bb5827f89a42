import { EventEmitter } from 'node:events';
import { setImmediate as turnOver } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { limitConcurrency } from './limit-concurrency.ts';

const { preHandler, onSend } = limitConcurrency();

/** @param isFirst - Whether all earlier responses on the connection have been sent. */
function asked({
  destroyed = false,
  isFirst = true,
  browser,
  program,
  ip = '127.0.0.1',
}: Partial<{
  destroyed: boolean;
  isFirst: boolean;
  browser: string;
  program: string;
  ip: string;
}> = {}) {
  let isHijacked = false;
  const socket = { destroyed };
  const response = Object.assign(new EventEmitter(), { socket: isFirst ? socket : null });
  const reply = { raw: response, hijack: () => (isHijacked = true) } as unknown as FastifyReply;
  const raw = Object.assign(new EventEmitter(), { socket });
  const deviceConnection = browser === undefined ? undefined : { deviceId: browser };
  const request = {
    raw,
    deviceConnection,
    ip,
    headers: { 'user-agent': program },
  } as unknown as FastifyRequest;
  const begin = async () => preHandler(request, reply);
  const end = async (payload?: unknown) => onSend(request, reply, payload);
  return { begin, end, raw, socket, response, isHijacked: () => isHijacked };
}

test('SAFE: simultaneous requests begin in order, each in its own turn of the event loop', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const begun: { name: string; turn: number }[] = [];
  await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const { begin, end } = asked();
      await begin();
      begun.push({ name, turn });
      await end();
    }),
  );
  isOver = true;
  expect(begun.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(new Set(begun.map((one) => one.turn)).size).toBe(3);
});

test('SAFE: if the client of a request has disconnected, the request is not answered', async () => {
  const [left, there] = [asked({ destroyed: true }), asked()];
  await Promise.all([left.begin(), there.begin()]);
  expect([left.isHijacked(), there.isHijacked()]).toEqual([true, false]);
  await there.end();
});

test('SAFE: four responses are made at the same time; the fifth begins when one of the four is complete or its client has disconnected', async () => {
  const all = Array.from({ length: 6 }, () => asked());
  const begun = new Set<number>();
  const beginning = all.map(async ({ begin }, at) => {
    await begin();
    begun.add(at);
  });
  await Promise.all(beginning.slice(0, 4));
  await turnOver();
  await turnOver();
  expect([...begun]).toEqual([0, 1, 2, 3]);
  all[4]!.socket.destroyed = true;
  await all[2]!.end();
  await Promise.all(beginning);
  expect(all.map(({ isHijacked }) => isHijacked())).toEqual(all.map((_, at) => at === 4));
  for (const { end } of all) await end();
});

test('SAFE: a request begins only after the earlier responses on its connection were sent', async () => {
  const second = asked({ isFirst: false });
  let hasBegun = false;
  const begun = second.begin().then(() => (hasBegun = true));
  const first = asked();
  await first.begin();
  await first.end();
  await turnOver();
  expect(hasBegun).toBe(false);
  second.response.emit('socket');
  await begun;
  expect(second.isHijacked()).toBe(false);
  await second.end();
});

test('SAFE: if the connection of a waiting request closes, the request is not answered', async () => {
  const second = asked({ isFirst: false });
  const begun = second.begin();
  second.socket.destroyed = true;
  second.raw.emit('close');
  await begun;
  expect(second.isHijacked()).toBe(true);
});

test('SAFE: clients take turns even if one of them sends many requests; a client is a browser, or a program with its address and user agent', async () => {
  const begun: string[] = [];
  const ask = async (name: string, client: Parameters<typeof asked>[0]): Promise<void> => {
    const { begin, end } = asked(client);
    await begin();
    begun.push(name);
    // All requests arrive before the first one ends.
    await turnOver();
    await end();
  };
  const flood = Array.from({ length: 20 }, async (_, at) =>
    ask(`program ${at}`, { program: 'flood' }),
  );
  await Promise.all([
    ...flood,
    ask('a', { browser: 'first' }),
    ask('b', { browser: 'second' }),
    ask('c', { program: 'other' }),
    ask('d', { program: 'flood', ip: '10.0.0.1' }),
  ]);
  const others = ['a', 'b', 'c', 'd'].map((name) => begun.indexOf(name));
  expect(Math.max(...others)).toBeLessThan(10);
  expect(begun.filter((name) => name.startsWith('program'))).toEqual(
    Array.from({ length: 20 }, (_, at) => `program ${at}`),
  );
});

test('SAFE: a response is sent as bytes', async () => {
  const { begin, end } = asked();
  await begin();
  expect(await end('€')).toEqual(Buffer.from('€'));
});
