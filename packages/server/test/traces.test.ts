import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, eventually, startServer, type TestServer } from './harness.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

/** Sends a message with these headers, and returns the run of the message. */
async function runOf(headers: Record<string, string>) {
  const { runtime, app, folder } = server;
  const { sessionId } = await runtime.createSession({ cliType: 'demo', projectDir: folder });
  const url = `/api/session/${sessionId}/send`;
  const payload = { message: 'explain' };
  const sent = await app.inject({
    method: 'POST',
    url,
    headers: { ...bearer, ...headers },
    payload,
  });
  expect(sent.statusCode).toBe(202);
  const { turnId } = sent.json<{ turnId: string }>();
  await eventually(() => runtime.getRun(turnId).catch(() => undefined)).toBeDefined();
  return runtime.getRun(turnId);
}

test('a turn belongs to the trace of the request that started it', async () => {
  const traceparent = `00-${traceId}-${spanId}-01`;
  const run = await runOf({ traceparent, tracestate: 'a=1' });
  expect(run).toMatchObject({ parentSpanId: spanId, traceContext: { tracestate: 'a=1' } });
  expect(run.traceContext?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
});

test.each([
  ['no header', {}],
  ['an invalid header', { traceparent: `00-${traceId}-${spanId}` }],
])('with %s, the turn has a trace of its own', async (_, headers) => {
  const run = await runOf(headers);
  expect(run.parentSpanId).toBeUndefined();
  expect(run.traceContext?.traceparent).toMatch(
    /^00-(?!0af7651916cd)[0-9a-f]{32}-[0-9a-f]{16}-01$/,
  );
});
