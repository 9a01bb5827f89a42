/** HTTP servers that send endless data, and a function that measures how much memory that takes. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import { onTestFinished } from 'vitest';

export const json = { 'content-type': 'application/json' };
export const events = { 'content-type': 'text/event-stream' };

/** Starts a server on the loopback interface; it is closed after the test. */
export async function serve(
  listener: RequestListener,
): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    response.on('error', () => undefined);
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests: () => requests };
}

/** Writes endless copies of a piece, or endless pieces, as fast as the client reads. */
export function flood(
  response: NodeJS.WritableStream & { destroyed?: boolean },
  piece: string | (() => string),
): void {
  const next = (): string => {
    if (typeof piece === 'string') return piece.repeat(Math.ceil(65_536 / piece.length));
    let block = '';
    while (block.length < 65_536) block += piece();
    return block;
  };
  const more = (): void => {
    if (response.destroyed !== true) response.write(next(), () => setImmediate(more));
  };
  more();
}

/** Answers with a beginning, followed by endless copies of one piece. */
export const endless =
  (headers: Record<string, string>, start: string, piece: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).write(start);
    flood(response, piece);
  };

/** Sends the same compressed, so that few bytes are transferred. */
export const endlessPacked =
  (headers: Record<string, string>, piece: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { ...headers, 'content-encoding': 'gzip' });
    const packed = createGzip();
    packed.pipe(response);
    response.on('close', () => packed.destroy());
    flood(packed, piece);
  };

/** Returns the largest growth of the memory during the work, in MiB. */
export async function growth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const looking = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20);
  try {
    await work();
  } finally {
    clearInterval(looking);
  }
  return (Math.max(highest, process.memoryUsage().rss) - before) / 1024 / 1024;
}

/**
 * The largest allowed growth of the memory, in MiB; generous, because without a limit the memory grows by more than 100
 * MiB each second.
 */
export const mostGrowth = 500;
