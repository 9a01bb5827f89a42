import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findTrace, traceStore } from './find-trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';

/** Starts a fake Langfuse that returns this one trace from the n-th request on. */
async function langfuse(fromQuestion = 1) {
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }, answer) => {
    asked.push(url);
    const login = Buffer.from('pk-lf-1:sk-lf-2').toString('base64');
    const isKnown = headers.authorization === `Basic ${login}`;
    const isThere = url === `/base/api/public/traces/${traceId}` && asked.length >= fromQuestion;
    answer.writeHead(isKnown ? (isThere ? 200 : 404) : 401).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const host = `http://127.0.0.1:${port}`;
  return { asked, host, access: { ...keys, baseUrl: `${host}/base` } };
}

const keys = { publicKey: 'pk-lf-1', secretKey: 'sk-lf-2' };
const { signal } = new AbortController();
const soon = { forMs: 10, signal };

test('FR-001-35: the trace is requested from the Langfuse in its variables until Langfuse has the trace', async () => {
  const { host, asked, access } = await langfuse(2);
  const store = traceStore(access);
  expect(store?.name).toBe(`Langfuse at ${host}`);
  await findTrace(store!, traceId, { forMs: 10_000, signal });
  expect(asked).toEqual(Array(2).fill(`/base/api/public/traces/${traceId}`));
});

test('a missing trace, rejected keys, and an unreachable Langfuse are reported', async () => {
  const { host, access } = await langfuse();
  const at = (more: object) => traceStore({ ...access, baseUrl: host, ...more })!;
  await expect(findTrace(at({}), traceId, soon)).rejects.toThrow(
    `Langfuse at ${host} had no trace ${traceId} after 0.01 s. Check that the server sends its traces there.`,
  );
  await expect(findTrace(at({ secretKey: 'sk-3' }), traceId, soon)).rejects.toThrow(
    `Langfuse at ${host} answered 401: it rejects the keys.`,
  );
  await expect(findTrace(at({ baseUrl: 'http://127.0.0.1:9' }), traceId, soon)).rejects.toThrow(
    /^Langfuse at http:\/\/127\.0\.0\.1:9 cannot be reached: .+\.$/,
  );
});

test('the URL of a trace can be given for a trace store other than Langfuse', async () => {
  const { host, asked, access } = await langfuse();
  const store = traceStore(access, `${host}/traces/{traceId}`);
  // The other trace store gets no keys of Langfuse.
  await expect(findTrace(store!, traceId, soon)).rejects.toThrow(`${host} answered 401`);
  expect(asked).toEqual([`/traces/${traceId}`]);
  expect(traceStore(undefined)).toBeUndefined();
  expect(() => traceStore(undefined, 'http://localhost:16686')).toThrow(
    /^--find-trace needs an address/,
  );
});
