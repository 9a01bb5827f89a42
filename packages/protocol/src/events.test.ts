import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EventPayload, isTerminal, stampEvent, StreamEvent } from './events.ts';
import { runOf } from './testing/run-of.ts';
import { UpsertObject } from './upserts.ts';

const start: EventPayload = { type: 'response_start', modelId: 'm', providerId: 'p' };

/** Parses one event with the given payload, as if the event came from a log. */
function parse(payload: EventPayload): StreamEvent {
  return StreamEvent.parse(JSON.parse(JSON.stringify(runOf([payload])[0])));
}

/** Returns the schema's error message; throws if the schema accepts the value. */
function refusal(value: unknown): string {
  const result = StreamEvent.safeParse(value);
  if (result.success) throw new Error('the schema accepted the value');
  return result.error.message;
}

describe('the schema represents the output of agents', () => {
  it('TC-1.1a: text streaming', () => {
    const events = [
      parse({ type: 'item_start', itemId: 'i', itemType: 'message' }),
      parse({ type: 'item_delta', itemId: 'i', deltaContent: 'Hello' }),
    ];
    expect(events[0]).toMatchObject({ payload: { itemType: 'message' } });
    expect(events[1]).toMatchObject({ type: 'item_delta', payload: { deltaContent: 'Hello' } });
  });

  it('TC-1.1b: the life of a tool call', () => {
    const call = { itemId: 'i', callId: 'c', name: 'Read' };
    const started = parse({ type: 'item_start', itemType: 'function_call', ...call });
    const delta = parse({ type: 'item_delta', itemId: 'i', deltaContent: '{"path":' });
    const done = parse({
      type: 'item_done',
      itemId: 'i',
      finalItem: {
        id: 'i',
        type: 'function_call',
        name: 'Read',
        callId: 'c',
        arguments: '{"path":"/a"}',
        origin: 'agent',
      },
    });
    const output = parse({
      type: 'item_done',
      itemId: 'o',
      finalItem: {
        id: 'o',
        type: 'function_call_output',
        callId: 'c',
        output: 'text',
        success: true,
        origin: 'system',
      },
    });
    expect(started.payload).toMatchObject({ name: 'Read', callId: 'c', itemType: 'function_call' });
    expect(delta.payload).toMatchObject({ deltaContent: '{"path":' });
    expect(done.payload).toMatchObject({ finalItem: { name: 'Read', arguments: '{"path":"/a"}' } });
    expect(output.payload).toMatchObject({ finalItem: { callId: 'c', output: 'text' } });
  });

  it('TC-1.1c: thinking', () => {
    const started = parse({
      type: 'item_start',
      itemId: 'i',
      itemType: 'reasoning',
      initialContent: 'Hm.',
    });
    expect(started.payload).toMatchObject({ itemType: 'reasoning', initialContent: 'Hm.' });
  });

  it('TC-1.1d: the life of a turn', () => {
    const done = parse({
      type: 'response_done',
      status: 'error',
      finishReason: 'error',
      error: { code: 'API_ERROR', message: 'It broke.' },
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    expect(parse(start)).toMatchObject({ turnId: 'turn-1', payload: { modelId: 'm' } });
    expect(done.payload).toMatchObject({
      status: 'error',
      finishReason: 'error',
      usage: { inputTokens: 1, outputTokens: 2 },
      error: { code: 'API_ERROR' },
    });
  });

  it('TC-1.1e: errors of an item and of a turn', () => {
    const error = { code: 'RATE_LIMIT', message: 'Too many requests.' };
    expect(parse({ type: 'item_error', itemId: 'i', error }).payload).toMatchObject({
      itemId: 'i',
      error,
    });
    expect(parse({ type: 'response_error', error }).payload).toMatchObject({ error });
  });

  it('TC-1.1f: malformed events are refused, and the refusal names the wrong field', () => {
    const [event] = runOf([{ type: 'item_delta', itemId: 'i', deltaContent: 'Hello' }]);
    const payload = event?.payload;
    expect(refusal({ ...event, turnId: undefined })).toContain('turnId');
    expect(refusal({ ...event, seq: -1 })).toContain('seq');
    expect(refusal({ ...event, timestamp: 'yesterday' })).toContain('timestamp');
    expect(refusal({ ...event, payload: { ...payload, deltaContent: 7 } })).toContain(
      'deltaContent',
    );
    expect(refusal({ ...event, type: 'item_made_up' })).toContain('type');
    // The outer type must equal the payload's type.
    expect(refusal({ ...event, type: 'heartbeat' })).toContain('payload');
  });
});

describe('events carry the ids that relate them', () => {
  const call = {
    id: 'i',
    type: 'function_call',
    name: 'Read',
    callId: 'c',
    arguments: '{}',
  } as const;
  const output = { id: 'o', type: 'function_call_output', callId: 'c', output: '' } as const;
  const run = runOf([
    start,
    { type: 'item_start', itemId: 'i', itemType: 'function_call', callId: 'c', name: 'Read' },
    { type: 'item_delta', itemId: 'i', deltaContent: '{}' },
    { type: 'item_done', itemId: 'i', finalItem: { ...call, origin: 'agent' } },
    { type: 'item_done', itemId: 'o', finalItem: { ...output, success: true, origin: 'system' } },
    { type: 'response_done', status: 'completed' },
  ]).map((event) => StreamEvent.parse(event));

  it('TC-1.2a: all events of a turn share its turnId', () => {
    expect(new Set(run.map(({ turnId }) => turnId))).toEqual(new Set(['turn-1']));
    for (const event of run) {
      expect(refusal({ ...event, turnId: '' })).toContain('turnId');
    }
  });

  it('TC-1.2b: all events of an item share its itemId', () => {
    const ids = run.slice(1, 4).map(({ payload }) => 'itemId' in payload && payload.itemId);
    expect(ids).toEqual(['i', 'i', 'i']);
    expect(refusal({ ...run[2], payload: { ...run[2]?.payload, itemId: undefined } })).toContain(
      'itemId',
    );
  });

  it('TC-1.2c: a call and its result share their callId', () => {
    const items = run.flatMap(({ payload }) =>
      payload.type === 'item_done' ? [payload.finalItem] : [],
    );
    expect(items).toMatchObject([{ callId: 'c' }, { callId: 'c' }]);
    const nameless = { ...output, callId: undefined };
    const bare = { ...run[4], payload: { ...run[4]?.payload, finalItem: nameless } };
    expect(refusal(bare)).toContain('callId');
  });
});

describe('data for a later import is complete', () => {
  it('TC-1.3a: events and upserts demand ids and times', () => {
    const upsert = {
      type: 'tool_call',
      sessionId: 's',
      turnId: 't',
      itemId: 'i',
      callId: 'c',
      toolName: 'Read',
      toolArguments: {},
      status: 'complete',
      sourceTimestamp: '2026-01-01T00:00:00.000Z',
      emittedAt: '2026-01-01T00:00:01.000Z',
    };
    expect(UpsertObject.parse(upsert)).toEqual(upsert);
    for (const field of Object.keys(upsert)) {
      const { error } = UpsertObject.safeParse({ ...upsert, [field]: undefined });
      expect(error?.message).toContain(field);
    }
    const [event] = runOf([start]);
    for (const field of ['eventId', 'seq', 'timestamp', 'sessionId', 'turnId', 'runId']) {
      expect(refusal({ ...event, [field]: undefined })).toContain(field);
    }
  });

  it('TC-1.3b: the README lists the fields that other systems derive, and this package does not derive these fields', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const section = readme.split('## Fields that other systems derive')[1] ?? '';
    const fields = ['turnSequenceNumber', 'llmTurnNumber', 'entryType'];
    for (const field of fields) expect(section).toContain(`\`${field}\``);
    expect(section).toContain('not derived here');
    const [event] = runOf([start]);
    for (const field of fields)
      expect(StreamEvent.parse({ ...event, [field]: 1 })).not.toHaveProperty(field);
  });
});

describe('the envelope', () => {
  it('FR-001-02: numbers an event within its run', () => {
    const draft = { turnId: 't', timestamp: '2026-01-01T00:00:00.000Z', payload: start };
    const run = {
      sessionId: 's',
      runId: 'r',
      traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
    };
    const event = stampEvent(draft, run, 3);
    expect(StreamEvent.parse(event)).toEqual({
      ...run,
      ...draft,
      eventId: 'r:3',
      seq: 3,
      type: 'response_start',
    });
  });

  it('the two types that end a run count as terminal', () => {
    const ends = EventPayload.options.map((option) => option.shape.type.value);
    expect(ends.filter((type) => isTerminal({ type }))).toEqual([
      'response_done',
      'response_error',
    ]);
  });
});
