import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findPort } from './port.ts';

const host = '127.0.0.1';
let other: Server;
let port: number;

beforeEach(async () => {
  other = createServer().listen(0, host);
  await once(other, 'listening');
  ({ port } = other.address() as AddressInfo);
});
afterEach(() => other.close());

test('if another program uses the chosen port, the error says what to do', async () => {
  await expect(findPort({ host, port, portChosen: true })).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    message: expect.stringContaining(`port ${port}`),
  });
});

test('if the default port is in use, the next free port is used', async () => {
  const found = await findPort({ host, port, portChosen: false });
  expect(found).toBeGreaterThan(port);
});

test('for port 0, the system chooses a port', async () => {
  expect(await findPort({ host, port: 0, portChosen: true })).toBe(0);
});

test('if this machine does not have the host’s address, the error contains the host', async () => {
  await expect(findPort({ host: '192.0.2.1', port: 0, portChosen: true })).rejects.toMatchObject({
    code: 'HOST_UNUSABLE',
    message: expect.stringContaining('192.0.2.1'),
  });
});
