/** Faults that can be planted between `liminal verify` and the programs that it checks. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import type { Home, Server } from './command.ts';

/** The changes that a proxy makes to requests and responses. */
export interface Front {
  /** Changes the headers of a request. */
  onRequest?: (headers: IncomingMessage['headers']) => void;
  /** Refuses a request with status 507. Returns the body of the response. */
  refuses?: (asked: IncomingMessage) => object | undefined;
  /** Changes the body of the response for this path. */
  onAnswer?: { path: RegExp; change: (body: string) => string };
}

/** Puts a proxy in front of a server. Every command in this home folder uses the proxy. */
export async function putBefore(server: Server, home: Home, front: Front): Promise<void> {
  const proxy = createServer((asked, answer) => {
    const refusal = front.refuses?.(asked);
    if (refusal) {
      answer.writeHead(507, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
    } else void pass(asked, answer, server, front);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  writeFileSync(join(home.data, 'server.json'), JSON.stringify({ ...home.server, url }));
}

async function pass(
  asked: IncomingMessage,
  answer: ServerResponse,
  { url }: Server,
  { onRequest, onAnswer }: Front,
): Promise<void> {
  const headers = { ...asked.headers, host: new URL(url).host };
  onRequest?.(headers);
  const onward = request(`${url}${asked.url}`, { method: asked.method!, headers });
  asked.pipe(onward);
  const [given] = (await once(onward, 'response')) as [IncomingMessage];
  if (onAnswer?.path.test(asked.url ?? '')) {
    const body = onAnswer.change((await buffer(given)).toString());
    answer.writeHead(given.statusCode!, { 'content-type': 'application/json' }).end(body);
  } else {
    answer.writeHead(given.statusCode!, given.headers);
    given.pipe(answer);
  }
}

/**
 * Copies each run from one prefix to another while the run grows, until the test ends. `plant` returns the changed
 * fields of an entry, or undefined to leave out the entry.
 */
export function copyRuns(
  url: string,
  [from, to]: [string, string],
  plant: (fields: Record<string, string>) => Record<string, string> | undefined,
): void {
  const [reading, writing] = [new Redis(url), new Redis(url)];
  onTestFinished(() => {
    reading.disconnect();
    writing.disconnect();
  });
  const take = async (key: string, [id, list]: [string, string[]]): Promise<void> => {
    const names = list.filter((_, at) => at % 2 === 0);
    const fields = plant(Object.fromEntries(names.map((name, at) => [name, list[2 * at + 1]!])));
    if (fields) await writing.xadd(key, id, ...Object.entries(fields).flat());
  };
  void (async () => {
    const last = new Map([[`${from}:runs`, '0']]);
    for (;;) {
      const [keys, ids] = [[...last.keys()], [...last.values()]];
      const news = await reading.xread('BLOCK', 500, 'STREAMS', ...keys, ...ids);
      for (const [key, entries] of news ?? []) {
        for (const [id, list] of entries) {
          last.set(key, id);
          if (key !== `${from}:runs`) await take(key.replace(from, to), [id, list]);
          else last.set(`${from}:run:${list[list.indexOf('runId') + 1]!}:events`, '0');
        }
      }
    }
  })().catch(() => {});
}
