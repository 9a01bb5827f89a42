import { once } from 'node:events';
import { createServer } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '@liminal/server';

const found =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address }));

test('SAFE: a server does not start on localhost while another program uses one of its addresses', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const app = Fastify();
  onTestFinished(async () => {
    other.close();
    await app.close();
  });
  const addressesOf = found('127.0.0.2', '127.0.0.1');
  await expect(listen(app, { host: 'localhost', port }, addressesOf)).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    message: expect.stringContaining(`port ${port} of 127.0.0.1`),
  });
});

test('an address of localhost that the machine does not have is skipped', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  // The address is reserved for documentation, so no machine uses it.
  const addressesOf = found('127.0.0.1', '192.0.2.1');
  const url = await listen(app, { host: 'localhost', port: 0 }, addressesOf);
  expect((await fetch(`${url}/`)).status).toBe(404);
});

test('after a server has closed, it listens on no address of localhost', async () => {
  const app = Fastify();
  const url = await listen(app, { host: 'localhost', port: 0 }, found('127.0.0.1', '127.0.0.2'));
  const { port } = new URL(url);
  expect((await fetch(`http://127.0.0.2:${port}/`)).status).toBe(404);
  await app.close();
  await expect(fetch(`http://127.0.0.2:${port}/`)).rejects.toThrow('fetch failed');
});
