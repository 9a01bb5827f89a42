/** Spans that a server sends to its destinations while the server works. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { StreamEvent } from '@liminal/protocol';
import { OtlpReceiver, type ReceivedSpan } from '@liminal/testkit/otlp-receiver';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { clientOf, Home, type Server } from './command.ts';

const [traceId, caller] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];

let receiver: OtlpReceiver;
let home: Home;
beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  home = new Home();
});
afterAll(async () => {
  await home.close();
  await receiver.close();
});

/**
 * Plays a turn of the demo that waits for a person. The turn's message is sent with these headers. A client reads the
 * turn's events.
 */
async function turnOf(server: Server, headers: Record<string, string> = {}) {
  const client = clientOf(server);
  const { requests } = client;
  const { sessionId } = await requests.createSession({ cliType: 'demo', projectDir: home.project });
  await requests.setConfig(sessionId, 'pace', 'instant');
  const authorization = `Bearer ${server.token}`;
  const sent = await fetch(`${server.url}/api/session/${sessionId}/send`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ message: 'ask for permission' }),
  });
  const { turnId } = z.object({ turnId: z.string() }).parse(await sent.json());
  const events: StreamEvent[] = [];
  for await (const event of eventsOf(server, turnId)) {
    events.push(event);
    const { payload } = event;
    if (payload.type !== 'item_start' || payload.approvalId === undefined) continue;
    await requests.answerApproval(sessionId, payload.approvalId, { optionId: 'allow' });
  }
  // When the session is idle, history contains the turn.
  await vi.waitFor(async () => expect((await requests.status(sessionId)).state).toBe('idle'), {
    timeout: 60_000,
  });
  client.close();
  return { sessionId, turnId, events };
}

/** Reads the events of a run as any other program could. */
async function* eventsOf({ url, token }: Server, runId: string): AsyncGenerator<StreamEvent> {
  const headers = { authorization: `Bearer ${token}` };
  const read = await fetch(`${url}/api/run/${runId}/events`, { headers });
  const lines = createInterface(Readable.fromWeb(read.body as ReadableStream));
  for await (const line of lines) {
    const [, data] = /^data: (.*)$/.exec(line) ?? [];
    if (data !== undefined) yield StreamEvent.parse(JSON.parse(data));
  }
}

/** Returns each span with its parent, both as names. If the parent is not among the spans, its id is returned. */
function places(spans: readonly ReceivedSpan[]): string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .toSorted((a, b) => a.startedAt - b.startedAt)
    .map(({ name, parentSpanId = 'nothing' }) => {
      return `${name} < ${names.get(parentSpanId) ?? parentSpanId}`;
    });
}

describe('a turn is one waterfall', () => {
  const paths = {
    OTLP: '/otlp/v1/traces',
    Langfuse: '/langfuse/api/public/otel/v1/traces',
    OpenLLMetry: '/traceloop/v1/traces',
  };
  let turn: Awaited<ReturnType<typeof turnOf>>;

  beforeAll(async () => {
    const server = await home.serve([], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a',
      OTEL_SERVICE_NAME: 'my liminal',
      LANGFUSE_HOST: `${receiver.url}/langfuse/`,
      LANGFUSE_PUBLIC_KEY: 'pk-1',
      LANGFUSE_SECRET_KEY: 'sk-1',
      TRACELOOP_BASE_URL: `${receiver.url}/traceloop`,
      TRACELOOP_API_KEY: 'tl-1',
    });
    turn = await turnOf(server, { traceparent: `00-${traceId}-${caller}-01` });
    await server.command.end('SIGTERM');
  });

  test.each(Object.entries(paths))(
    'FR-001-12 FR-001-13 the spans at %s reach from the request to the database and the client',
    (_, path) => {
      const { spans } = receiver.at(path);
      expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
      expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
      const told = places(spans);
      expect(told).toEqual(
        expect.arrayContaining([
          `POST /api/session/:id/send < ${caller}`,
          'session < POST /api/session/:id/send',
          'invoke_agent demo < session',
          'chat recorded < invoke_agent demo',
          'execute_tool Bash < invoke_agent demo',
          'wait_for_approval < execute_tool Bash',
          'log append < invoke_agent demo',
          'projector < invoke_agent demo',
          'database write < invoke_agent demo',
          'delivery sse < invoke_agent demo',
        ]),
      );
      // Every span must be in the tree of the trace.
      expect(told.filter((place) => place.endsWith(caller))).toHaveLength(1);
      expect(told.filter((place) => /< ([0-9a-f]{16}|nothing)$/.test(place))).toHaveLength(1);
      expect(JSON.stringify(spans)).not.toContain('ask for permission');
    },
  );

  test('FR-001-10 FR-001-11 the spans of projector and client belong to the trace in the events', () => {
    const contexts = new Set(turn.events.map((event) => event.traceContext.traceparent));
    const { spans } = receiver.at(paths.OTLP);
    const agent = spans.find(({ name }) => name === 'invoke_agent demo');
    expect([...contexts]).toEqual([`00-${traceId}-${agent?.spanId}-01`]);
    const append = spans.find(({ name }) => name === 'log append');
    const counted = append?.attributes['liminal.events'];
    expect(counted).toBe(turn.events.length);
    for (const name of ['projector', 'delivery sse']) {
      const stage = spans.find((span) => span.name === name);
      expect(stage).toMatchObject({ parentSpanId: agent?.spanId });
      expect(stage?.attributes['liminal.events']).toBe(turn.events.length);
    }
  });

  test('FR-001-13 OpenLLMetry gets each span in a separate request', () => {
    const { spans, headers } = receiver.at(paths.OpenLLMetry);
    expect(spans.length).toBeGreaterThan(10);
    expect(headers).toHaveLength(spans.length);
  });

  test('each destination gets the service’s name, and the destination’s own key', () => {
    const headersOf = (path: string) => receiver.at(path).headers[0];
    expect(headersOf(paths.OTLP)).toMatchObject({ 'x-team': 'a' });
    const basic = `Basic ${Buffer.from('pk-1:sk-1').toString('base64')}`;
    expect(headersOf(paths.Langfuse)).toMatchObject({ authorization: basic });
    expect(headersOf(paths.OpenLLMetry)).toMatchObject({ authorization: 'Bearer tl-1' });
    const { spans } = receiver.at(paths.OTLP);
    expect(spans[0]?.resource).toMatchObject({
      'service.name': 'my liminal',
      'liminal.role': 'server',
    });
  });
});

test('an unreachable destination delays nothing and is reported once; if the settings ask for content, spans contain it', async () => {
  const server = await home.serve([], {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/base?key=secret-1',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-2',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '1',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    LANGFUSE_HOST: `${receiver.url}/with-content`,
    LANGFUSE_PUBLIC_KEY: 'pk-2',
    LANGFUSE_SECRET_KEY: 'secret-3',
  });
  const turns = [await turnOf(server), await turnOf(server)];
  const unsampled = { traceparent: `00-${traceId}-${caller}-00` };
  await turnOf(server, unsampled);
  await server.command.untilOutput(/spans could not be sent/);
  await server.command.end('SIGTERM');
  const { stderr } = server.command;
  expect(stderr.match(/spans could not be sent/g)).toHaveLength(1);
  expect(stderr).toContain('ECONNREFUSED');
  expect(stderr).not.toContain('secret');
  const { spans } = receiver.at('/with-content/api/public/otel/v1/traces');
  const agents = spans.filter(({ name }) => name === 'invoke_agent demo');
  expect(agents.map(({ attributes }) => attributes['session.id'])).toEqual(
    turns.map(({ sessionId }) => sessionId),
  );
  expect(agents[0]?.attributes['gen_ai.input.messages']).toContain('ask for permission');
  expect(spans.map((span) => span.traceId)).not.toContain(traceId);
});
