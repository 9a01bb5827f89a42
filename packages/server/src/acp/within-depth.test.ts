import type { AgentApp, AnyMessage, Stream } from '@agentclientprotocol/sdk/unstable';
import { withinDepth } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { cutDeepMessages } from './within-depth.ts';

test('an agent gets a client’s messages without the parts that are nested too deeply; all other parts are unchanged', async () => {
  const given: { stream?: Stream; options?: unknown[] } = {};
  const connection = {};
  const app = {
    name: 'agent',
    connect(stream: Stream, ...options: unknown[]) {
      Object.assign(given, { stream, options, self: this });
      return connection;
    },
  } as unknown as AgentApp;
  const cut = cutDeepMessages(app);
  expect(cut).toBe(app);
  let deep: unknown = 'deep';
  for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
  const message = { jsonrpc: '2.0', method: 'a', params: { deep, flat: 1 } } as AnyMessage;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      controller.enqueue(message);
      controller.close();
    },
  });
  const writable = new WritableStream<AnyMessage>();
  const connect = cut.connect as (...args: unknown[]) => unknown;
  expect(connect({ readable, writable }, 'option', 2)).toBe(connection);
  expect(given.options).toEqual(['option', 2]);
  expect(given).toMatchObject({ self: app });
  expect(given.stream?.writable).toBe(writable);
  const read: AnyMessage[] = [];
  for await (const one of given.stream!.readable) read.push(one);
  expect(read).toEqual([withinDepth(message)]);
  expect(JSON.stringify(read[0]).length).toBeLessThan(10_000);
});
