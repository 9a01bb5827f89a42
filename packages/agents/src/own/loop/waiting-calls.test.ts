import type { OutputItem, Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { resumableCalls, outputOf, scriptCallOf, scriptOf } from './waiting-calls.ts';

type Call = Extract<OutputItem, { type: 'function_call' }>;

const call = (id: string, more: Partial<Call> = {}): Call => ({
  type: 'function_call',
  id,
  callId: id,
  name: 'read',
  arguments: '{}',
  origin: 'agent',
  ...more,
});
const output = (callId: string, more: object = {}) =>
  ({
    type: 'function_call_output',
    id: outputOf(callId),
    callId,
    output: 'text',
    ...more,
  }) as OutputItem;
const question = (callId: string, outcome: string | undefined = 'cancelled') =>
  ({
    type: 'approval',
    id: `approval-${callId}`,
    approvalId: `ask-${callId}`,
    callId,
    title: 'Read it?',
    options: [],
    ...(outcome !== '' && { outcome: { outcome } }),
  }) as OutputItem;
const script = (callId: string, startedAt: string | undefined = '1') =>
  ({
    type: 'script_execution',
    id: scriptOf(callId),
    ...(startedAt !== '' && { startedAt }),
  }) as unknown as OutputItem;
const turn = (turnId: string, outputItems: OutputItem[], more: Partial<Response> = {}): Response =>
  ({ id: turnId, turnId, outputItems, finishReason: null, ...more }) as Response;

/** The calls that wait after one turn with these items. */
const askedAfter = (...items: OutputItem[]) => resumableCalls([turn('1', items)]);

test('the ids of a script, its calls and their outputs are derived from the id of the call’s item', () => {
  expect(scriptOf('a')).toBe('a:script');
  expect(scriptCallOf('a:script', 1)).toBe('a:script:1');
  expect(outputOf('a')).toBe('a:output');
});

test('a call whose question was open when its turn was cut off still waits', () => {
  expect(askedAfter(call('a'), question('a'))).toEqual([{ call: call('a'), approvalId: 'ask-a' }]);
});

test.each<[string, OutputItem[]]>([
  ['was never asked about', [call('a')]],
  ['was answered', [call('a'), question('a', 'selected')]],
  ['has ended', [call('a'), question('a'), output('a')]],
  ['another one was asked about', [call('a'), call('b'), question('c')]],
  ['is a script’s own', [call('a', { parentCallId: 'b' }), question('a')]],
])('a call no longer waits if it %s', (_, items) => {
  expect(askedAfter(...items)).toEqual([]);
});

test('an output that broke off does not end a call', () => {
  const broken = output('a', { error: { code: 'OWNER_LOST', message: 'It ended.' } });
  expect(askedAfter(call('a'), question('a'), broken)).toHaveLength(1);
});

test('only calls of the newest turn, and of the turns that it resumed, can still wait', () => {
  const items = [call('a'), question('a')];
  const more = [call('b'), question('b')];
  const agent = { trigger: 'agent' } as Partial<Response>;
  const ids = (runs: Response[]) => resumableCalls(runs).map((one) => one.call.id);
  expect(ids([turn('1', items), turn('2', more)])).toEqual(['b']);
  expect(ids([turn('1', items), turn('2', more, agent)])).toEqual(['a', 'b']);
  expect(ids([turn('1', items, agent), turn('2', more, agent)])).toEqual(['a', 'b']);
  expect(ids([turn('1', items), turn('2', more), turn('3', [], agent)])).toEqual(['b']);
  expect(resumableCalls([])).toEqual([]);
});

test('a call that a later turn has ended no longer waits, even if its question was open in the first turn', () => {
  const again = turn('2', [call('a'), output('a')], { trigger: 'agent' });
  expect(resumableCalls([turn('1', [call('a'), question('a')]), again])).toEqual([]);
});

test('a call is returned with the fields of its first attempt', () => {
  const first = call('a', { title: 'First' });
  const agent = { trigger: 'agent' } as Partial<Response>;
  const runs = [turn('1', [first]), turn('2', [call('a'), question('a')], agent)];
  expect(resumableCalls(runs)).toEqual([{ call: first, approvalId: 'ask-a' }]);
});

const inner = (place: number) => call(scriptCallOf(scriptOf('a'), place), { parentCallId: 'a' });

test('a script with a waiting call is resumed, with all its calls in order', () => {
  const [one, two, three] = [inner(1), inner(2), inner(3)];
  const items = [
    call('a'),
    script('a', 'then'),
    two,
    question(two.callId),
    one,
    output(one.callId),
    three,
  ];
  expect(askedAfter(...items)).toEqual([
    {
      call: call('a'),
      script: {
        startedAt: 'then',
        calls: [
          { item: one, output: output(one.callId) },
          { item: two, approvalId: `ask-${two.callId}` },
          { item: three },
        ],
      },
    },
  ]);
});

test.each<[string, OutputItem[]]>([
  ['asks nothing', [call('a'), script('a'), inner(1)]],
  ['never began', [call('a'), script('a', ''), inner(1), question(inner(1).callId)]],
  ['has no record', [call('a'), inner(1), question(inner(1).callId)]],
  ['has ended', [call('a'), script('a'), inner(1), question(inner(1).callId), output('a')]],
  [
    'was not stored completely',
    [
      call('a'),
      script('a'),
      inner(1),
      question(inner(1).callId),
      { type: 'message', id: '1:full', content: '', origin: 'agent' },
    ],
  ],
])('a script that %s is not resumed', (_, items) => {
  expect(askedAfter(...items)).toEqual([]);
});

test('the state of a script’s calls comes from the turn in which the call ended, or else from the newest turn', () => {
  const agent = { trigger: 'agent' } as Partial<Response>;
  const [one, two] = [inner(1), inner(2)];
  const runs = [
    turn('1', [call('a'), script('a', 'first'), one, output(one.callId), two]),
    turn('2', [call('a'), script('a', 'second'), one, two, question(two.callId)], agent),
  ];
  expect(resumableCalls(runs)).toEqual([
    {
      call: call('a'),
      script: {
        startedAt: 'first',
        calls: [
          { item: one, output: output(one.callId) },
          { item: two, approvalId: `ask-${two.callId}` },
        ],
      },
    },
  ]);
});
