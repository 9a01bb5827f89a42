/** HTTP servers that send endless data, and a measure of the memory that this costs. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import { onTestFinished } from 'vitest';

export const json = { 'content-type': 'application/json' };
export const events = { 'content-type': 'text/event-stream' };

/** A server on the loopback interface, until the test has finished. */
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

/** Writes a piece, or piece after piece, for ever, as fast as the client reads. */
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

/** Answers with a beginning, and then with the same piece for ever. */
export const endless =
  (headers: Record<string, string>, start: string, piece: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).write(start);
    flood(response, piece);
  };

/** The same, compressed: few bytes are transferred. */
export const endlessPacked =
  (headers: Record<string, string>, piece: string, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { ...headers, 'content-encoding': 'gzip' });
    const packed = createGzip();
    packed.pipe(response);
    response.on('close', () => packed.destroy());
    flood(packed, piece);
  };

/** The largest growth of the memory during the work, MiB. */
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

/** MiB; a generous limit: without a bound the memory grows by more than 100 MiB each second. */
export const mostGrowth = 500;
