import type { UpsertObject } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { arrange, type Row, waitingBelow } from './arrange.ts';
import { approval, fileChanges, text, tool } from './testing/items.ts';

/**
 * Returns rows in short form: `a`, `b(c d)` for children of b, `[a b]` for a run of reads, `{a b}` for a run of calls
 * that were not made, `a!` with a permission.
 */
function shape(rows: readonly Row[]): string {
  return rows
    .map((row) => {
      if (row.kind === 'item') return row.item.itemId;
      if (row.kind === 'reads') return `[${row.calls.map((call) => call.callId).join(' ')}]`;
      if (row.kind === 'not-made') return `{${row.rows.map(({ call }) => call.callId).join(' ')}}`;
      const below = row.below.length === 0 ? '' : `(${shape(row.below)})`;
      return `${row.call.callId}${row.approval === undefined ? '' : '!'}${below}`;
    })
    .join(' ');
}

it('consecutive reads and searches become one row', () => {
  const read = { kind: 'read' } as const;
  const items = [
    tool('a', read),
    tool('b', { kind: 'search' }),
    text('m'),
    tool('c', read),
    tool('d', { kind: 'edit' }),
  ];
  expect(shape(arrange(items))).toBe('[a b] m c d');
});

it('consecutive calls that were not made become one row, and the reads next to them become another row', () => {
  const edit = (id: string) => tool(id, { kind: 'edit', status: 'create' });
  const read = (id: string) => tool(id, { kind: 'read' });
  const items = [read('a'), read('b'), edit('c'), edit('d'), edit('e'), text('m'), edit('f')];
  expect(shape(arrange(items, true))).toBe('[a b] {c d e} m f');
  expect(shape(arrange(items, false))).toBe('[a b] c d e m f');
});

it('when the turn has ended, its file changes come last', () => {
  const items = [
    tool('agent'),
    fileChanges('c1', { parentCallId: 'agent' }),
    text('m1', { parentCallId: 'agent' }),
    fileChanges('c2'),
    text('m2'),
  ];
  expect(shape(arrange(items, true))).toBe('agent(m1 c1) m2 c2');
  expect(shape(arrange(items, false))).toBe('agent(m1) m2');
  expect(shape(arrange([text('m'), fileChanges('c', { diffs: [] })], true))).toBe('m');
});

it('a script and the script’s calls are part of the call that runs the script', () => {
  const script = (callId: string, parentCallId: string) =>
    tool(callId, { toolName: 'script', parentCallId });
  const items = [
    tool('run', { toolName: 'run_script' }),
    script('s', 'run'),
    tool('a', { parentCallId: 's' }),
    approval('p', { callId: 'a', parentCallId: 's' }),
    text('m'),
  ];
  const rows = arrange(items);
  expect(shape(rows)).toBe('run(a!) m');
  expect(rows[0]).toMatchObject({ script: { callId: 's' } });
  expect(rows[0]?.kind === 'tool' && waitingBelow(rows[0].below)).toMatchObject({ itemId: 'p' });
  // A call of a tool named `script` is shown as an ordinary call, unless it runs a script.
  expect(shape(arrange([tool('agent'), script('s', 'agent'), script('t', 'gone')]))).toBe(
    'agent(s) t',
  );
});

it('a failed read is not joined with other reads', () => {
  const read = { kind: 'read' } as const;
  const failed = tool('b', { kind: 'read', toolOutputIsError: true });
  expect(shape(arrange([tool('a', read), failed, tool('c', read), tool('d', read)]))).toBe(
    'a b [c d]',
  );
});

it('a subagent’s items are below the call that started the subagent, at any depth', () => {
  const items = [
    tool('agent'),
    text('m1', { parentCallId: 'agent' }),
    tool('inner', { parentCallId: 'agent' }),
    text('m2', { parentCallId: 'inner' }),
    text('after'),
  ];
  expect(shape(arrange(items))).toBe('agent(m1 inner(m2)) after');
});

it('an item whose parent is missing is at the top level', () => {
  expect(shape(arrange([text('m', { parentCallId: 'elsewhere' })]))).toBe('m');
});

it('a permission request belongs to its call; without a call, it is a row of its own', () => {
  const items = [tool('a'), approval('p1', { callId: 'a' }), approval('p2', { callId: 'gone' })];
  expect(shape(arrange(items))).toBe('a! p2');
});

it('whatever parents the items have, no item is lost or shown twice', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const item = fc.record({ parent: fc.option(id), read: fc.boolean() });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 4 }), (made) => {
      const items: UpsertObject[] = made.map(({ parent, read }, index) => {
        const kind = read ? 'read' : 'edit';
        const callId = 'abcd'[index] ?? '';
        return tool(callId, { kind, ...(parent !== null && { parentCallId: parent }) });
      });
      const shown = shape(arrange(items)).match(/[a-d]/g) ?? [];
      expect(shown.toSorted()).toEqual(made.map((_, index) => 'abcd'[index]));
    }),
  );
});

it('only the call of a person’s own command is marked as the person’s own', () => {
  const run = (callId: string, command: string) =>
    tool(callId, { kind: 'execute', toolArguments: { command } });
  const own = (content: string) =>
    arrange([
      { ...text('m'), origin: 'user', content } as UpsertObject,
      run('a', 'git status'),
      run('b', 'ls'),
    ]).map((row) => row.kind === 'tool' && row.isOwn === true);
  expect(own('!git status')).toEqual([false, true, false]);
  expect(own('git status')).toEqual([false, false, false]);
});
