import { describe, expect, test } from 'vitest';
import type { ReplayQuirks } from './quirks.ts';
import { asLive } from './replayed.ts';

const timestamp = '2026-01-01T00:00:00.000Z';
const live = (updates: unknown[], replay?: ReplayQuirks) =>
  asLive(
    updates.map((update) => ({ update, timestamp })),
    replay === undefined ? {} : { replay },
  ).map(({ update }) => update);

const say = (fields: object = {}) => ({ sessionUpdate: 'agent_message_chunk', ...fields });
const call = (fields: object) => ({ sessionUpdate: 'tool_call', toolCallId: 'c', ...fields });
const update = (fields: object) => ({
  sessionUpdate: 'tool_call_update',
  toolCallId: 'c',
  ...fields,
});

test('what is neither words nor a call is as it was told, whatever the quirks', () => {
  const updates = [{ sessionUpdate: 'plan', entries: [], rawOutput: 'head' }, { toolCallId: 'c' }];
  const plan = { tool: 'x', entries: 'y', content: 'z' };
  expect(live(updates, { tellsWhole: true, plan, outputHead: /^head/ })).toEqual(updates);
});

test('without quirks all is as it was told, at its time', () => {
  const updates = [say(), call({ title: 'x' }), update({ rawOutput: 'y' }), 7, null];
  expect(live(updates)).toEqual(updates);
  expect(asLive([{ update: say(), timestamp }], {})).toEqual([{ update: say(), timestamp }]);
});

test('of messages told whole each has an id, its own where it has one', () => {
  const told = live([say(), say(), say({ messageId: 'm' })], { tellsWhole: true }) as {
    messageId: string;
  }[];
  const [one, two, three] = told.map(({ messageId }) => messageId);
  expect(one).not.toBe(two);
  expect(three).toBe('m');
});

describe('a plan told as a call', () => {
  const plan = { tool: 'update_plan', entries: 'plan', content: 'step' };
  const told = (rawInput: unknown) => call({ title: 'update_plan', rawInput });

  test('is a plan, with what is no entry as it came, and without the call’s output', () => {
    const entries = [{ step: 'Look', status: 'pending' }, 'odd'];
    expect(live([told({ plan: entries }), update({ rawOutput: 'ok' })], { plan })).toEqual([
      { sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'pending' }, 'odd'] },
    ]);
  });

  test.each([[7], [{ plan: 'Look' }], [{ steps: [] }]])(
    'is a call where it has no entries: %j',
    (rawInput) => {
      const updates = [told(rawInput), update({ rawOutput: 'ok' })];
      expect(live(updates, { plan })).toEqual(updates);
    },
  );

  test('of another tool is a call', () => {
    const other = call({ title: 'update', rawInput: { plan: [] } });
    expect(live([other], { plan })).toEqual([other]);
  });
});

describe('a call under the model’s name for its tool', () => {
  const tools = { exec: { kind: 'execute' as const, title: 'cmd' } };

  test('has its kind, and its argument as the title', () => {
    const rawInput = { cmd: 'ls' };
    expect(live([call({ title: 'exec', rawInput })], { tools })).toEqual([
      call({ title: 'ls', name: 'exec', kind: 'execute', rawInput }),
    ]);
  });

  test.each([[undefined], ['ls'], [{}], [{ cmd: ['ls'] }]])(
    'keeps its name as the title with %j',
    (rawInput) => {
      expect(live([call({ title: 'exec', rawInput })], { tools })).toMatchObject([
        { title: 'exec', name: 'exec' },
      ]);
    },
  );

  test.each(['read', 'toString', 7])(
    'is left as it is under a name that is not known: %s',
    (title) => {
      expect(live([call({ title })], { tools })).toEqual([call({ title })]);
    },
  );
});

describe('output with a head for the model', () => {
  const outputHead = /(?:exit (?<exitCode>\d+)\n)?output:\n/;

  test.each([
    ['exit 2\noutput:\nx', { aggregated_output: 'x', exit_code: 2 }, 'failed'],
    ['exit 0\noutput:\nx', { aggregated_output: 'x', exit_code: 0 }, 'completed'],
    ['output:\nx', { aggregated_output: 'x' }, 'completed'],
  ])('%j is told without it, and how it went', (rawOutput, printed, status) => {
    const told = update({ status: 'completed', rawOutput });
    expect(live([told], { outputHead })).toEqual([update({ status, rawOutput: printed })]);
  });

  test.each(['x\noutput:\n', 'x', 7, undefined])('%j is left as it is', (rawOutput) => {
    const told = update({ rawOutput });
    expect(live([told], { outputHead })).toEqual([told]);
  });
});
