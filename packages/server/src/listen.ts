import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { errors } from './errors.ts';

/**
 * Makes a server listen on `host`. If `host` is `localhost`, the server listens on every address of that name, because
 * a browser may choose any of these addresses. Returns the URL of the first address, without a trailing slash. Throws
 * LiminalError `PORT_IN_USE` if another program uses another address of `localhost`: that program would receive the
 * sign-in links.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
  addressesOf: (name: string) => Promise<{ address: string }[]> = lookupAll,
): Promise<string> {
  if (host !== 'localhost') return app.listen({ host, port });
  const [first, ...others] = (await addressesOf(host)).map(({ address }) => address);
  const url = await app.listen({ host: first ?? host, port });
  for (const other of others) {
    await listenAlso(app, { host: other, port: Number(new URL(url).port) });
  }
  return url;
}

const lookupAll = async (name: string) => lookup(name, { all: true });

/**
 * Also listens on another address. Passes the connections of this address to the server, which counts and limits them
 * like its own connections.
 */
async function listenAlso({ server }: FastifyInstance, address: { host: string; port: number }) {
  const extraServer = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) =>
    server.emit('connection', socket),
  );
  extraServer.maxConnections = server.maxConnections;
  server.once('close', () => extraServer.close());
  const failed = once(extraServer, 'error');
  extraServer.listen(address);
  const [error] = (await Promise.race([once(extraServer, 'listening'), failed])) as [unknown?];
  if (!(error instanceof Error && 'code' in error)) return;
  // The machine may not have one of the addresses of `localhost`, for example the IPv6 address.
  if (error.code !== 'EADDRINUSE') return;
  const { host, port } = address;
  throw errors.PORT_IN_USE.onLocalhost(host, port, { cause: error });
}
