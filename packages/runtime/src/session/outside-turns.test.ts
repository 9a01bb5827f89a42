import type { StoredTurn } from '@liminal/agents';
import type { ResponseHead } from '@liminal/storage';
import { expect, test } from 'vitest';
import { outsideTurns } from './outside-turns.ts';

type Rest = Partial<StoredTurn> & { trigger?: 'user' | 'agent'; length?: number };

function stored(
  turnId: string,
  after?: string,
  { trigger = 'user', length = 3, ...rest }: Rest = {},
): StoredTurn {
  const timestamp = '2026-01-01T00:00:00.000Z';
  const start = { type: 'response_start', modelId: 'm', providerId: 'p', trigger } as const;
  const events = Array.from({ length }, (_, seq) => {
    return { turnId, timestamp, payload: seq === 0 ? start : ({ type: 'heartbeat' } as const) };
  });
  return { turnId, events, ...(after !== undefined && { after }), ...rest };
}

const run = (id: string, rest: Partial<ResponseHead> = {}): ResponseHead => ({
  id,
  turnId: id,
  sessionId: 's',
  modelId: 'm',
  providerId: 'p',
  createdAt: 0,
  updatedAt: 0,
  status: 'complete',
  finishReason: null,
  lastSeq: 2,
  ...rest,
});

const ids = (turns: readonly StoredTurn[]): string[] => turns.map(({ turnId }) => turnId);

test('a turn that history lacks counts as made outside, however long the turns before it are', () => {
  const turns = [stored('a'), stored('b', 'a'), stored('c', 'b')];
  expect(ids(outsideTurns(turns, [run('a', { lastSeq: 1 }), run('b', { lastSeq: 90 })]))).toEqual([
    'c',
  ]);
});

test('a turn that was made outside is returned again if it has grown', () => {
  const turns = [stored('a'), stored('b', 'a', { length: 5 })];
  expect(ids(outsideTurns(turns, [run('a'), run('b', { madeElsewhere: true })]))).toEqual(['b']);
  const told = run('b', { madeElsewhere: true, lastSeq: 4 });
  expect(outsideTurns(turns, [run('a'), told])).toEqual([]);
});

test('a turn that the agent began by itself counts as made outside if the turn before it was made outside', () => {
  const own = { trigger: 'agent' } as const;
  const turns = [
    stored('a'),
    stored('a1', 'a', own),
    stored('a2', 'a1', own),
    stored('b', 'a2'),
    stored('b1', 'b', own),
  ];
  expect(ids(outsideTurns(turns, [run('a')]))).toEqual(['b', 'b1']);
});

test('a turn that was taken back before Liminal’s first message is left out; a turn that was taken back after this message is kept', () => {
  const left = { isLeft: true };
  const turns = [stored('a'), stored('x', 'a', left), stored('b', 'a'), stored('y', 'b', left)];
  expect(ids(outsideTurns(turns, [run('a', { madeElsewhere: true }), run('b')]))).toEqual(['y']);
  const adopted = [run('a', { madeElsewhere: true }), run('b', { madeElsewhere: true })];
  expect(outsideTurns(turns, adopted)).toEqual([]);
});

test('a turn that was taken back before a fork is left out of the fork; a turn that was taken back after the fork is kept', () => {
  const left = { isLeft: true };
  const copied = { ...left, isCopied: true };
  const turns = [stored('a'), stored('x', 'a', copied), stored('b', 'a'), stored('y', 'b', left)];
  expect(ids(outsideTurns(turns, [run('a'), run('b')]))).toEqual(['y']);
});
