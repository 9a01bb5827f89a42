/** Arbitrary event sequences of one item, or of a call and its answers. The caller chooses the ids of the items. */
import fc from 'fast-check';
import type { EventPayload } from '../events.ts';
import type { ItemPatch, OutputItem } from '../items.ts';

type Track = (id: string) => EventPayload[];

/** Pieces of text that may end inside words, white space and surrogate pairs. */
const text = fc
  .array(
    fc.constantFrom('a', 'word', ' ', '  \n', 'ünï', '\ud83d', '\ude00', ' lorem ipsum dolor '),
    {
      maxLength: 9,
    },
  )
  .map((pieces) => pieces.join(''));
const long = fc.nat({ max: 200 }).map((words) => 'word '.repeat(words));
const deltas = fc.array(fc.oneof({ arbitrary: text, weight: 9 }, { arbitrary: long, weight: 1 }), {
  maxLength: 8,
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const itemError = { code: 'CONTENT_FILTER', message: 'Content blocked.' };
const blocks: ItemPatch['blocks'] = [{ type: 'resource_link', uri: 'file:///a', name: 'a' }];

const texts: fc.Arbitrary<Track> = fc
  .record({
    itemType: fc.constantFrom('message' as const, 'reasoning' as const),
    origin: fc.constantFrom(undefined, 'agent' as const, 'user' as const, 'system' as const),
    initialContent: maybe(text),
    parentCallId: maybe(fc.constant('parent-1')),
    patch: maybe(fc.constant<ItemPatch>({ blocks, raw: { kept: true } })),
    deltas,
    rewritten: maybe(text),
    started: fc.boolean(),
    ending: fc.constantFrom('done', 'done', 'done', 'error', 'cancelled', 'withdrawn'),
    late: fc.boolean(),
  })
  .map((life) => (id) => {
    const { itemType, origin, initialContent, parentCallId } = life;
    const grown = [initialContent ?? '', ...life.deltas].join('');
    const content = life.rewritten ?? (life.started ? grown : life.deltas.join(''));
    const finalItem: OutputItem =
      itemType === 'message'
        ? { id, type: itemType, content, origin: origin ?? 'agent' }
        : { id, type: itemType, content, origin: 'agent' };
    const growth = deltasOf(id, life.deltas, life.patch);
    const first: EventPayload[] = [
      { type: 'item_start', itemId: id, itemType, origin, initialContent, parentCallId },
      ...growth,
    ];
    // An item that has ended ignores further text, and cannot start again.
    const late = life.late && life.ending === 'done' ? [...first.slice(0, 1), ...growth] : [];
    return [...(life.started ? first : []), ...endingOf(id, finalItem, life.ending), ...late];
  });

const answers = fc.record({
  started: fc.boolean(),
  named: fc.boolean(),
  early: fc.boolean(),
  deltas,
  patch: maybe(fc.constant<ItemPatch>({ blocks, diffs: [{ path: '/b', newText: 'c' }] })),
  patchAt: fc.nat({ max: 8 }),
  success: fc.boolean(),
  ending: fc.constantFrom('done', 'done', 'done', 'error', 'cancelled'),
});

const calls: fc.Arbitrary<Track> = fc
  .record({
    named: fc.boolean(),
    argumentsAtStart: fc.boolean(),
    input: fc.dictionary(fc.constantFrom('path', 'text'), text),
    cut: fc.nat({ max: 12 }),
    broken: fc.boolean(),
    patch: maybe(
      fc.constantFrom<ItemPatch>(
        { arguments: '{"path":"b"}', title: 'Edit b' },
        {
          title: 'Edit a',
          kind: 'edit',
          locations: [{ path: '/a', line: 3 }],
          diffs: [{ path: '/a', newText: 'b' }],
        },
      ),
    ),
    patchAt: fc.nat({ max: 1 }),
    ending: fc.constantFrom('done', 'done', 'done', 'done', 'error', 'cancelled', 'withdrawn'),
    answers: fc.array(answers, { maxLength: 2 }),
  })
  .map((life) => (id) => {
    const callId = life.named ? `${id}-call` : id;
    const json = JSON.stringify(life.input).slice(0, life.broken ? -1 : undefined);
    const start: EventPayload = {
      type: 'item_start',
      itemId: id,
      itemType: 'function_call',
      name: 'Edit',
      callId: life.named ? callId : undefined,
      arguments: life.argumentsAtStart ? json : undefined,
    };
    const pieces = [json.slice(0, life.cut), json.slice(life.cut)];
    const finalItem: OutputItem = {
      id,
      type: 'function_call',
      name: 'Edit',
      arguments: json,
      // The id of a call, to which the call's outputs refer, may be known only at the end of the call.
      callId: `${id}-call`,
      origin: 'agent',
    };
    // A call that a tool has begun to answer cannot be withdrawn.
    const withdrawn = life.ending === 'cancelled' || life.ending === 'withdrawn';
    const all = life.answers.map((answer, index) => ({ ...answer, id: `${id}-answer-${index}` }));
    const early = withdrawn ? [] : all.filter((answer) => answer.early);
    const later = all.filter((answer) => withdrawn || !answer.early);
    return [
      start,
      ...deltasOf(id, life.argumentsAtStart ? ['', ''] : pieces, life.patch, life.patchAt),
      ...early.flatMap((answer) => answerTrack(answer, `${id}-call`)),
      ...endingOf(id, finalItem, life.ending),
      ...later.flatMap((answer) => answerTrack(answer, `${id}-call`)),
    ];
  });

type Answer = typeof answers extends fc.Arbitrary<infer T> ? T & { id: string } : never;

function answerTrack(answer: Answer, callId: string): EventPayload[] {
  const { id, started, named, success } = answer;
  const finalItem: OutputItem = {
    id,
    type: 'function_call_output',
    callId,
    output: answer.deltas.join(''),
    success,
    origin: 'system',
    exitCode: success ? 0 : 1,
    durationMs: 12,
  };
  if (!started) return [{ type: 'item_done', itemId: id, finalItem }];
  return [
    {
      type: 'item_start',
      itemId: id,
      itemType: 'function_call_output',
      callId: named ? callId : undefined,
    },
    ...deltasOf(id, answer.deltas, answer.patch, answer.patchAt),
    ...endingOf(id, finalItem, answer.ending),
  ];
}

const plans: fc.Arbitrary<Track> = fc
  .record({
    patches: fc.array(fc.constantFrom('pending', 'in_progress', 'completed'), { maxLength: 3 }),
    started: fc.boolean(),
    ending: fc.constantFrom('done', 'done', 'error', 'cancelled'),
  })
  .map((life) => (id) => {
    const entries = (status: 'pending' | 'in_progress' | 'completed') => [
      { content: 'Do it', priority: 'high' as const, status },
    ];
    const ending = endingOf(
      id,
      { id, type: 'plan', entries: entries('completed') },
      life.started ? life.ending : 'done',
    );
    if (!life.started) return ending;
    return [
      { type: 'item_start', itemId: id, itemType: 'plan', entries: entries('pending') },
      ...life.patches.flatMap((status) => deltasOf(id, [''], { entries: entries(status) })),
      ...ending,
    ];
  });

const fileChanges: fc.Arbitrary<Track> = fc
  .record({
    patches: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    started: fc.boolean(),
    ending: fc.constantFrom('done', 'done', 'error', 'cancelled'),
  })
  .map((life) => (id) => {
    const diffs = (newText: string) => [{ path: '/notes.txt', oldText: 'x', newText }];
    const ending = endingOf(
      id,
      { id, type: 'file_changes', diffs: diffs('c') },
      life.started ? life.ending : 'done',
    );
    if (!life.started) return ending;
    return [
      { type: 'item_start', itemId: id, itemType: 'file_changes', diffs: diffs('a') },
      ...life.patches.flatMap((text) => deltasOf(id, [''], { diffs: diffs(text) })),
      ...ending,
    ];
  });

const approvals: fc.Arbitrary<Track> = fc
  .constantFrom('selected' as const, 'cancelled' as const, 'error' as const)
  .map((ending) => (id) => {
    const question = {
      approvalId: `${id}-approval`,
      title: 'Run rm?',
      callId: 'call-0',
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' as const }],
      deadline: '2026-01-01T01:00:00.000Z',
      form: { properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] },
      asked: { name: 'Bash', arguments: '{"command":"rm -rf a"}', title: 'Run rm' },
      earlier: { arguments: '{"command":"ls"}' },
    };
    const outcome =
      ending === 'selected'
        ? { outcome: 'selected' as const, optionId: 'yes', content: { name: 'Ada' } }
        : { outcome: 'cancelled' as const, reason: 'the process ended' };
    const finalItem: OutputItem = { id, type: 'approval', ...question, outcome };
    return [
      { type: 'item_start', itemId: id, itemType: 'approval', ...question },
      ...endingOf(id, finalItem, ending === 'error' ? 'error' : 'done'),
    ];
  });

const scripts: fc.Arbitrary<Track> = fc
  .record({ started: fc.boolean(), failed: fc.boolean(), success: fc.boolean() })
  .map(({ started, failed, success }) => (id) => [
    ...(started ? [{ type: 'script_execution_start' as const, itemId: id, code: 'return 1' }] : []),
    failed
      ? { type: 'script_execution_error', itemId: id, error: itemError }
      : { type: 'script_execution_done', itemId: id, result: '1', success },
  ]);

const errors: fc.Arbitrary<Track> = fc
  .constantFrom('whole', 'streamed', 'unknown item')
  .map((form) => (id) => {
    if (form === 'unknown item') return [{ type: 'item_error', itemId: id, error: itemError }];
    const done = endingOf(
      id,
      { id, type: 'error', code: 'API_ERROR', message: 'It broke.', origin: 'provider' },
      'done',
    );
    if (form === 'whole') return done;
    const start: EventPayload = { type: 'item_start', itemId: id, itemType: 'error' };
    return [start, ...deltasOf(id, ['It ', 'broke.'], undefined), ...done];
  });

/** Events that concern no item, or an unknown item. */
const noise: fc.Arbitrary<Track> = fc
  .constantFrom<EventPayload[]>(
    { type: 'heartbeat' },
    { type: 'usage_update', usage: { inputTokens: 1, outputTokens: 2, costUsd: 0.5 } },
    { type: 'turn_aborted_by_user', reason: 'stop' },
    { type: 'item_delta', itemId: 'nobody', deltaContent: 'lost' },
    { type: 'item_cancelled', itemId: 'nobody' },
  )
  .map((payload) => () => [payload]);

export const itemTracks: fc.Arbitrary<Track> = fc.oneof(
  { arbitrary: texts, weight: 4 },
  { arbitrary: calls, weight: 4 },
  plans,
  fileChanges,
  approvals,
  scripts,
  errors,
  noise,
);

function deltasOf(
  itemId: string,
  pieces: string[],
  patch: ItemPatch | undefined,
  patchAt = 0,
): EventPayload[] {
  return pieces.map((deltaContent, index) => ({
    type: 'item_delta',
    itemId,
    deltaContent,
    ...(patch && index === patchAt && { patch }),
  }));
}

function endingOf(itemId: string, finalItem: OutputItem, ending: string): EventPayload[] {
  const done: EventPayload = { type: 'item_done', itemId, finalItem };
  const cancelled: EventPayload = { type: 'item_cancelled', itemId };
  if (ending === 'error') return [{ type: 'item_error', itemId, error: itemError }];
  if (ending === 'cancelled') return [cancelled];
  return ending === 'withdrawn' ? [done, cancelled] : [done];
}
