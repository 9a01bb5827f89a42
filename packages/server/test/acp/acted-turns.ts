/** Turns like the turns of real agents: items follow one another, and tools run in parallel. */
import type {
  ContentBlock,
  EventPayload,
  ItemPatch,
  OutputItem,
  PlanEntry,
} from '@liminal/protocol';
import { pixel } from '@liminal/testkit';
import fc from 'fast-check';
import type { Step } from './acting-provider.ts';

type FromArbitrary<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** Returns the steps of one part of a turn. `id` is unique. */
type Part = (id: string) => Step[];

/** Parts of a text. A part may end in the middle of a word, of white space or of an emoji. */
const pieces: fc.Arbitrary<string[]> = fc.array(
  fc.constantFrom(
    'a',
    'word',
    ' ',
    '  \n',
    'ünï',
    '\ud83d',
    '\ude00',
    ' lorem ipsum dolor ',
    '```',
  ),
  { minLength: 1, maxLength: 6 },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: pixel };
const link: ContentBlock = { type: 'resource_link', uri: 'https://a.example/b', name: 'b' };
const file: ContentBlock = {
  type: 'resource',
  resource: { uri: 'file:///c.txt', mimeType: 'text/plain', text: 'See.' },
};

const start = (itemId: string, itemType: OutputItem['type'], more: object = {}): EventPayload => ({
  type: 'item_start',
  itemId,
  itemType,
  ...more,
});
const delta = (itemId: string, deltaContent: string, patch?: ItemPatch): EventPayload => ({
  type: 'item_delta',
  itemId,
  deltaContent,
  ...(patch && { patch }),
});
const done = (finalItem: OutputItem): EventPayload => ({
  type: 'item_done',
  itemId: finalItem.id,
  finalItem,
});

const words = fc
  .record({
    type: fc.constantFrom('message' as const, 'message' as const, 'reasoning' as const),
    said: pieces,
    blocks: fc.subarray([image, link, file]),
    end: fc.constantFrom('grown', 'grown', 'grown', 'at once'),
  })
  .map(({ type, said, blocks, end }): Part => (id) => {
    const whole = said.join('');
    const base = { id, content: whole, origin: 'agent' as const };
    const item: OutputItem =
      type === 'reasoning'
        ? { ...base, type }
        : { ...base, type, ...(blocks.length > 0 && { blocks }) };
    if (end === 'at once') return [done(item)];
    return [start(id, type), ...said.map((piece) => delta(id, piece)), done(item)];
  });

const diff = { path: '/notes.txt', oldText: 'x', newText: 'y' };
const outputs = fc.record({
  said: fc.oneof(fc.constant<string[]>([]), pieces),
  blocks: fc.subarray([image, link]),
  end: fc.constantFrom('success', 'success', 'failure', 'error'),
  exitCode: maybe(fc.constantFrom(0, 1, 130)),
  isWhole: fc.boolean(),
});
type Output = FromArbitrary<typeof outputs>;

const calls = fc.record({
  name: fc.constantFrom('Bash', 'Edit', 'mcp__a__b'),
  title: maybe(fc.constantFrom('List files', 'Edit notes.txt')),
  kind: maybe(fc.constantFrom('execute' as const, 'edit' as const, 'read' as const)),
  input: fc.dictionary(fc.constantFrom('path', 'text'), fc.constantFrom('', 'a', '"\n')),
  locations: maybe(fc.constant(undefined).map(() => [{ path: '/a', line: 3 }, { path: '/b' }])),
  isEdit: fc.boolean(),
  isLate: fc.boolean(),
  asks: fc.constantFrom(false, false, true),
  /** Whether the call's input is already complete at its start, and the call ends only with its output. */
  endsLate: fc.boolean(),
  output: maybe(outputs),
});
type Call = FromArbitrary<typeof calls>;

function callSteps(life: Call, id: string): Step[] {
  const { name, title, kind, input, locations, isEdit, isLate, output } = life;
  const json = Object.keys(input).length === 0 ? '{}' : JSON.stringify(input);
  const callId = `${id}-call`;
  const patch = {
    ...(title && { title }),
    ...(locations && { locations }),
    ...(isEdit && { diffs: [diff] }),
  };
  const more = { name, callId, ...(kind && { kind }) };
  const item: OutputItem = {
    id,
    type: 'function_call',
    name,
    callId,
    arguments: json,
    origin: 'agent',
    ...(kind && { kind }),
    ...patch,
  };
  const ask: Step[] = life.asks ? [{ ask: { itemId: `${id}-ask`, title: 'May I?', callId } }] : [];
  const outputs = output ? outputSteps(output, id, callId) : [];
  if (life.endsLate) {
    const begun = start(id, 'function_call', { ...more, arguments: json });
    return [
      begun,
      delta(id, '', patch),
      ...ask,
      ...outputs.slice(0, -1),
      done(item),
      ...outputs.slice(-1),
    ];
  }
  return [
    start(id, 'function_call', more),
    delta(id, json.slice(0, 3)),
    delta(id, json.slice(3), isLate ? patch : undefined),
    done(item),
    ...ask,
    ...outputs,
  ];
}

function outputSteps(
  { said, blocks, end, exitCode, isWhole }: Output,
  call: string,
  callId: string,
): Step[] {
  const id = `${call}-out`;
  const item: OutputItem = {
    id,
    type: 'function_call_output',
    callId,
    output: said.join(''),
    origin: 'tool_harness',
    success: end === 'success',
    ...(exitCode !== undefined && { exitCode }),
    ...(blocks.length > 0 && { blocks }),
  };
  if (isWhole) return [done(item)];
  const error = { code: 'TOOL_BROKE', message: 'It broke.' };
  return [
    start(id, 'function_call_output', { callId }),
    ...said.map((piece) => delta(id, piece)),
    end === 'error' ? { type: 'item_error', itemId: id, error } : done(item),
  ];
}

/** Returns the steps of parallel calls. A question stops the whole turn until the question is answered. */
const tools = fc
  .record({
    all: fc.array(calls, { minLength: 1, maxLength: 3 }),
    order: fc.array(fc.nat({ max: 2 }), { maxLength: 30 }),
  })
  .map(({ all, order }): Part => (id) => {
    const rest = all.map((life, index) => callSteps(life, `${id}-${index}`));
    const merged: Step[] = [];
    for (let step = 0; rest.some((one) => one.length > 0); step += 1) {
      const waiting = rest.filter((one) => one.length > 0);
      const next = waiting[(order[step] ?? step) % waiting.length]?.shift();
      if (next) merged.push(next);
    }
    return merged;
  });

/** Returns the steps of a subagent that works within a call. */
const subagents = fc.tuple(words, calls, outputs).map(([said, life, output]): Part => (id) => {
  const inner: Step[] = [
    ...said(`${id}-says`),
    ...callSteps({ ...life, asks: false }, `${id}-does`),
  ];
  const of = `${id}-call`;
  const task = { id, type: 'function_call', name: 'Task', callId: of } as const;
  return [
    done({ ...task, arguments: '{}', origin: 'agent' }),
    ...inner.map((step) => withParent(step, of)),
    ...outputSteps(output, id, of),
  ];
});

function withParent(step: Step, parentCallId: string): Step {
  if (!('ask' in step) && step.type === 'item_start') return { ...step, parentCallId };
  if ('ask' in step || step.type !== 'item_done') return step;
  return { ...step, finalItem: { ...step.finalItem, parentCallId } };
}

const beside = fc
  .constantFrom('notice', 'compaction', 'usage', 'question', 'form', 'script', 'error')
  .map((kind): Part => (id) => {
    const said = { id, type: 'message', origin: 'system' } as const;
    switch (kind) {
      case 'notice':
        return [done({ ...said, content: 'The agent was restarted.\n\nIt goes on.' })];
      case 'compaction': {
        const content = 'The conversation so far was summarised to make room (on request).';
        return [
          start(id, 'message', { origin: 'system', compaction: 'in_progress' }),
          delta(id, 'The conversation so far is being summarised to make room.'),
          done({ ...said, content, compaction: 'completed' }),
        ];
      }
      case 'usage': {
        const usage = { inputTokens: 0, outputTokens: 0, contextTokens: 10, contextWindow: 100 };
        return [{ type: 'usage_update', usage: { ...usage, costUsd: 0.5 } }];
      }
      case 'form': {
        const form = {
          properties: { name: { type: 'string', title: 'Name' } },
          required: ['name'],
        };
        return [{ ask: { itemId: id, title: 'Who is it?', form } }];
      }
      case 'script':
        return [
          { type: 'script_execution_start', itemId: id, code: 'return 1' },
          { type: 'script_execution_done', itemId: id, result: '1', success: true },
        ];
      case 'error': {
        const error = { code: 'API_ERROR', message: 'The API is slow.' } as const;
        return [done({ id, type: 'error', ...error, origin: 'provider' })];
      }
      default:
        return [{ ask: { itemId: id, title: 'Go on?', description: 'It is late.' } }];
    }
  });

const entries = fc.array(
  fc.record<PlanEntry>({
    content: fc.constantFrom('Bake', 'Wash up'),
    priority: fc.constantFrom('high', 'low'),
    status: fc.constantFrom('pending', 'in_progress', 'completed'),
  }),
  { minLength: 1, maxLength: 3 },
);

const counted = { inputTokens: 3, outputTokens: 5, cacheReadInputTokens: 2 };
const endings = fc.constantFrom<EventPayload>(
  { type: 'response_done', status: 'completed', finishReason: 'end_turn', usage: counted },
  { type: 'response_done', status: 'completed', finishReason: 'max_tokens' },
  { type: 'response_done', status: 'completed', finishReason: 'max_turn_requests' },
  { type: 'response_done', status: 'completed', finishReason: 'refusal' },
  { type: 'response_done', status: 'cancelled', finishReason: 'cancelled' },
  { type: 'response_error', error: { code: 'OVERLOADED', message: 'The model is busy.' } },
);

/** A person's attachments. */
export const attachments = fc.subarray([image, link, file]);

/**
 * Generates complete turns without the user's message. If a turn has a plan, the plan changes between the other parts
 * of the turn.
 */
export const actedTurns: fc.Arbitrary<Step[]> = fc
  .record({
    parts: fc.array(
      fc.oneof(
        { arbitrary: words, weight: 3 },
        { arbitrary: tools, weight: 2 },
        { arbitrary: beside, weight: 2 },
        subagents,
      ),
      { maxLength: 6 },
    ),
    plans: fc.array(entries, { maxLength: 3 }),
    end: endings,
  })
  .map(({ parts, plans, end }) => {
    const planned = plans.map((one): EventPayload[] => [delta('plan', '', { entries: one })]);
    const [first] = plans;
    if (first) planned[0] = [start('plan', 'plan', { entries: first })];
    const steps = parts.flatMap((part, index) => [
      ...(planned[index] ?? []),
      ...part(`item-${index}`),
    ]);
    const last = planned.slice(parts.length).flat();
    const final = plans.at(-1);
    const closed = final ? [done({ id: 'plan', type: 'plan', entries: final })] : [];
    return [...steps, ...last, ...closed, end];
  });
