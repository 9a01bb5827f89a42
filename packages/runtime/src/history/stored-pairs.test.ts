import type { StoredTurn } from '@liminal/agents';
import type { OutputItem, Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { withKnownIds } from './stored-pairs.ts';

const times = { startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:01.000Z' };

function items(prompt: string, answer: string): OutputItem[] {
  const said = { type: 'message', ...times } as const;
  return [
    { ...said, id: 'u', origin: 'user', content: prompt },
    { ...said, id: 'a', origin: 'agent', content: answer },
  ];
}

const stored = (...said: [string, string][]): StoredTurn[] =>
  said.map(([prompt, answer], index) => ({
    turnId: `agent:${index + 1}`,
    events: items(prompt, answer).map((finalItem) => ({
      turnId: `agent:${index + 1}`,
      timestamp: times.startedAt,
      payload: { type: 'item_done', itemId: finalItem.id, finalItem },
    })),
  }));

type Known = ReturnType<typeof run>;

const run = (id: string, prompt: string, answer: string, rest: Partial<Response> = {}) => ({
  id,
  status: 'complete' as const,
  outputItems: items(prompt, answer),
  ...rest,
});

/** In history, `before` further runs precede the known runs. */
const pair = (turns: readonly StoredTurn[], known: readonly Known[], before = 0) => {
  const others = Array.from({ length: before }, (_, index) => ({ id: `older ${index}` }));
  return withKnownIds(turns, known, [...others, ...known]);
};

const ids = (turns: readonly StoredTurn[]) =>
  turns.map(({ turnId, isLeft }) => (isLeft === true ? `left ${turnId}` : turnId));

test('stored turns that history has get their ids from history, and later turns are new', () => {
  const turns = pair(stored(['Hi', 'Hello'], ['Go', 'Gone'], ['More', 'Done']), [
    run('r1', 'Hi', 'Hello'),
    run('r2', 'Go', 'Gone'),
  ]);
  expect(turns.map(({ turnId, after }) => [turnId, after])).toEqual([
    ['r1', undefined],
    ['r2', 'r1'],
    ['agent:3', 'r2'],
  ]);
  expect(turns[1]?.events.every(({ turnId }) => turnId === 'r2')).toBe(true);
});

test('a turn is matched by its answer if its prompt is stored differently, and by its prompt if its answer differs', () => {
  const turns = pair(stored(['/init expanded', 'Here it is'], ['Go', 'Go']), [
    run('r1', '/init', 'Here it is'),
    run('r2', 'Go', ''),
  ]);
  expect(ids(turns)).toEqual(['r1', 'r2']);
});

test('if all turns are the same, the last turns are the new turns', () => {
  const same = ['continue', 'ok'] as [string, string];
  const known = ['r1', 'r2'].map((id) => run(id, ...same));
  expect(ids(pair(stored(same, same, same), known))).toEqual(['r1', 'r2', 'agent:3']);
  const many = Array.from({ length: 40 }, () => same);
  const tail = Array.from({ length: 30 }, (_, index) => run(`r${index + 11}`, ...same));
  expect(ids(pair(stored(...many), tail, 10))).toEqual(tail.map(({ id }) => id));
  expect(ids(pair(stored(...many, same), tail, 10)).at(-1)).toBe('agent:41');
});

test('turns are matched even if the agent no longer has the first turns', () => {
  const tail = [run('r98', 'x', '1'), run('r99', 'y', '2')];
  expect(ids(pair(stored(['y', '2'], ['z', '3']), tail, 97))).toEqual(['r99', 'agent:2']);
});

test('turns that have nothing in common with history are left out', () => {
  expect(pair(stored(['Other', 'thing']), [run('r1', 'Hi', 'Hello')])).toEqual([]);
  expect(ids(pair(stored(['First', 'one']), []))).toEqual(['agent:1']);
});

test('an unmatched turn between two matched turns is left out', () => {
  const turns = stored(['Hi', 'Hello'], ['odd', 'thing'], ['Go', 'Gone']);
  const known = [run('r1', 'Hi', 'Hello'), run('r2', 'Go', 'Gone')];
  expect(ids(pair(turns, known))).toEqual(['r1', 'r2']);
});

test('turns in history with an answer that the agent no longer has are marked as left, but turns that were cut off are not', () => {
  const known = [
    run('r1', 'Hi', 'Hello'),
    run('r2', 'Go', 'Gone'),
    run('r3', 'Stop', '', { status: 'aborted' }),
  ];
  const turns = pair(stored(['Hi', 'Hello'], ['Other', 'way']), known);
  expect(ids(turns)).toEqual(['r1', 'agent:2', 'left r2']);
});

test('if an agent’s ids start over, no id is used twice', () => {
  const known = [run('agent:1', 'Hi', 'Hello'), run('agent:2', 'Go', 'Gone')];
  const [first, second] = ids(pair(stored(['Hi', 'Hello'], ['Other', 'way']), known));
  expect(first).toBe('agent:1');
  expect(second).toMatch(/^agent:2:[0-9a-f-]{36}$/);
});
