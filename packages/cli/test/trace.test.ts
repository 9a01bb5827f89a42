/** The spans of stored runs. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { LiminalClient } from '@liminal/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { clientOf, eventually, Home, type Server, createSessionWithTurns } from './command.ts';

let home: Home;
let server: Server;
let client: LiminalClient;

beforeAll(async () => {
  home = new Home();
  server = await home.serve();
  client = clientOf(server);
});
afterAll(async () => {
  client.close();
  await home.close();
});

const Otlp = z.object({
  resourceSpans: z.tuple([
    z.object({
      scopeSpans: z.tuple([
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              startTimeUnixNano: z.string().regex(/^\d{19}$/),
              endTimeUnixNano: z.string().regex(/^\d{19}$/),
            }),
          ),
        }),
      ]),
    }),
  ]),
});
const spansIn = (body: string) => Otlp.parse(JSON.parse(body)).resourceSpans[0].scopeSpans[0].spans;

/** Starts a server that accepts spans over HTTP, and responds with this status and body. */
async function receiver(status = 200, answer: object = {}) {
  const asked: { path: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
  const http = createServer((request, reply) => {
    void text(request).then((body) => {
      asked.push({ path: request.url, headers: request.headers, body });
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { url, asked };
}

/** Runs `liminal trace` to its end. */
async function traced(args: string[], env: NodeJS.ProcessEnv = {}) {
  const command = home.start(['trace', ...args], env);
  const exitCode = await command.exitCode;
  return { exitCode, stdout: command.stdout, stderr: command.stderr };
}

test('the spans of a request with a trace are sent as one waterfall, with the ids of the request’s events', async () => {
  const { url, asked } = await receiver();
  const { requests } = client;
  const { sessionId } = await requests.createSession({ cliType: 'demo', projectDir: home.project });
  await requests.setConfig(sessionId, 'pace', 'instant');
  const [traceId, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const sent = await fetch(`${server.url}/api/session/${sessionId}/send`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${caller}-01`,
    },
    body: JSON.stringify({ message: 'delegate this' }),
  });
  const { turnId } = z.object({ turnId: z.string() }).parse(await sent.json());
  await eventually(async () => (await requests.getRun(turnId)).status).toBe('complete');

  const outcome = await traced([turnId, '--send'], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/base/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc, x-team=a',
  });
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
  expect(asked).toMatchObject([
    { path: '/base/v1/traces', headers: { authorization: 'Basic abc', 'x-team': 'a' } },
  ]);
  const spans = spansIn(asked[0]!.body);
  const [turn] = spans;
  expect(turn).toMatchObject({ traceId, parentSpanId: caller, name: 'invoke_agent demo' });
  expect(await requests.getRun(turnId)).toMatchObject({
    traceContext: { traceparent: `00-${traceId}-${turn!.spanId}-01` },
  });
  const agent = spans.find(({ name }) => name === 'execute_tool Agent');
  expect(agent).toMatchObject({ traceId, parentSpanId: turn!.spanId });
  const within = spans.filter(({ parentSpanId }) => parentSpanId === agent!.spanId);
  expect(within.map(({ name }) => name)).toContain('execute_tool Read');
  expect(asked[0]!.body).not.toContain('delegate this');
});

test('a session’s runs are printed as waterfalls, or as one line of OTLP', async () => {
  const sessionId = await createSessionWithTurns(client, home.project, 'explain', 'fix');
  const told = await traced([sessionId]);
  expect(told).toMatchObject({ exitCode: 0, stderr: '' });
  const shown = told.stdout.split('\n\n');
  expect(shown).toHaveLength(2);
  expect(shown[1]).toMatch(
    /^trace [0-9a-f]{32}\n +\+0\.000 s +\d+\.\d{3} s {2}invoke_agent demo\n +\+\d+\.\d{3} s +\d+\.\d{3} s {4}chat /,
  );
  const { stdout } = await traced([sessionId, '--json', '--capture-content']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(spansIn(stdout).filter(({ name }) => name === 'invoke_agent demo')).toHaveLength(2);
  expect(stdout).toContain('explain');
});

test('if the spans cannot be sent, one sentence reports this', async () => {
  const sessionId = await createSessionWithTurns(client, home.project, 'explain');
  const refusing = await receiver(401, { message: 'who are you' });
  const choosing = await receiver(200, { partialSuccess: { rejectedSpans: '3' } });
  const endpoints = [
    ['', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['ftp://here', 'not an http:// or https:// address'],
    ['http://127.0.0.1:9', 'cannot be reached'],
    [refusing.url, 'answered 401'],
    [choosing.url, 'rejected 3 of them'],
  ] as const;
  for (const [endpoint, why] of endpoints) {
    const outcome = await traced([sessionId, '--send'], { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
    expect(outcome.stderr).toContain(why);
  }
  expect((await traced(['nothing'])).exitCode).toBe(1);
});
