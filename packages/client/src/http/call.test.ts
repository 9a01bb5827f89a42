import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { call } from './call.ts';
import { RequestAborter } from './request-aborter.ts';

it('a failed request makes the connection suspect, and a request that was answered or cancelled does not', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/broken') request.socket.destroy();
    if (request.url === '/answered') response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const aborter = new RequestAborter();
  const suspected = vi.fn<() => void>();
  aborter.requestTrouble.on(suspected);
  const { port } = server.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}`, aborter };

  await call(options, 'POST', '/answered');
  const cancelled = call(options, 'POST', '/silent', undefined, AbortSignal.abort());
  await expect(cancelled).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(suspected).not.toHaveBeenCalled();
  const failed = call(options, 'POST', '/broken');
  await expect(failed).rejects.toMatchObject({ code: 'UNREACHABLE' });
  expect(suspected).toHaveBeenCalledOnce();
});
