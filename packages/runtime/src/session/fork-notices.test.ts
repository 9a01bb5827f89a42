import type { StoredTurn } from '@liminal/agents';
import { expect, test } from 'vitest';
import { importConversation } from './fork-notices.ts';

function turn(turnId: string, prompt: string, rest: Partial<StoredTurn> = {}): StoredTurn {
  const timestamp = '2026-01-01T00:00:00.000Z';
  const events: StoredTurn['events'] = [
    {
      turnId,
      timestamp,
      payload: { type: 'response_start', modelId: 'm', providerId: 'p', trigger: 'user' },
    },
    {
      turnId,
      timestamp,
      payload: {
        type: 'item_start',
        itemId: `${turnId}:user`,
        itemType: 'message',
        origin: 'user',
      },
    },
    {
      turnId,
      timestamp,
      payload: {
        type: 'item_done',
        itemId: `${turnId}:user`,
        finalItem: { type: 'message', id: `${turnId}:user`, content: prompt, origin: 'user' },
      },
    },
    {
      turnId,
      timestamp,
      payload: { type: 'response_done', status: 'completed', finishReason: null },
    },
  ];
  return { turnId, events, ...rest };
}

const words = (stored: StoredTurn[]): string[] =>
  importConversation('s', stored).flatMap(({ outputItems }) =>
    outputItems.map((item) => (item.type === 'message' ? item.content : '')),
  );
const notice = (start: string, named: string): string =>
  `${start} taken back here in the terminal: not shown, and not known to the agent: ${named}`;

test('a notice where the conversation continues lists the turns that were taken back', () => {
  const left = { isLeft: true };
  const stored = [
    turn('a', 'One'),
    turn('b', 'Two', { after: 'a', ...left }),
    turn('c', 'Three', { after: 'b', ...left }),
    turn('d', 'Four', { after: 'a' }),
  ];
  expect(words(stored)).toEqual(['One', notice('2 turns were', '“Two”, “Three”'), 'Four']);
});

test('if the last turn was taken back, the notice is at the end of the conversation; if the first turn was taken back, the notice is at the start', () => {
  const left = { isLeft: true };
  const stored = [
    turn('a', 'One', left),
    turn('b', 'Two'),
    turn('c', 'Three', { after: 'b', ...left }),
  ];
  expect(words(stored)).toEqual([
    notice('A turn was', '“One”'),
    'Two',
    notice('A turn was', '“Three”'),
  ]);
});

test('if many turns were taken back, the notice lists the first five', () => {
  const many = Array.from({ length: 7 }, (_, place) =>
    turn(`${place}`, `P${place}`, { isLeft: true }),
  );
  expect(words([...many, turn('x', 'X')])[0]).toBe(
    notice('7 turns were', '“P0”, “P1”, “P2”, “P3”, “P4”, …'),
  );
});
