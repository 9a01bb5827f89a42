import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takenBack } from './taken-back.ts';

const turn = (turnId: string, rewoundTo?: string) => ({
  turnId,
  ...(rewoundTo !== undefined && { rewoundTo }),
});
const found = (...turns: Parameters<typeof takenBack>[0]) =>
  Object.fromEntries([...takenBack(turns)].toReversed());

test('a rewind takes back its target and all turns between the target and the rewind, but no later turns', () => {
  const turns = [turn('1'), turn('2'), turn('3'), turn('r', '2'), turn('4')];
  expect(found(...turns)).toEqual({ 2: 'r', 3: 'r' });
  expect(found(turn('1'), turn('2'))).toEqual({});
});

test('a rewind can also take back earlier rewinds, and the turns between them', () => {
  const earlier = [turn('1'), turn('2'), turn('r', '2'), turn('3')];
  expect(found(...earlier, turn('s', '3'))).toEqual({ 2: 'r', 3: 's' });
  expect(found(...earlier, turn('s', '1'))).toEqual({ 1: 's', 2: 's', r: 's', 3: 's' });
});

test('the newest turns of a conversation alone give the same result for these turns as all turns', () => {
  const conversations = fc.array(fc.option(fc.nat(6), { nil: undefined }), { maxLength: 14 });
  fc.assert(
    fc.property(conversations, fc.nat(14), (steps, cut) => {
      const turns: ReturnType<typeof turn>[] = [];
      for (const [place, back] of steps.entries()) {
        const gone = takenBack(turns);
        const live = turns.filter(({ turnId, rewoundTo }) => !gone.has(turnId) && !rewoundTo);
        const to = back === undefined ? undefined : live.at(-1 - back)?.turnId;
        turns.push(turn(String(place), to));
      }
      const all = takenBack(turns);
      const newest = turns.slice(cut);
      const expected = newest.flatMap(({ turnId }) => {
        const by = all.get(turnId);
        return by === undefined ? [] : [[turnId, by]];
      });
      expect([...takenBack(newest)].toReversed()).toEqual(expected);
      // Computes the result slowly, one rewind after another, for comparison with the fast function.
      const gone = new Set<string>();
      for (const [place, { rewoundTo }] of turns.entries()) {
        if (rewoundTo === undefined) continue;
        const from = turns.findIndex(({ turnId }) => turnId === rewoundTo);
        for (const { turnId } of turns.slice(from, place)) gone.add(turnId);
      }
      expect(new Set(all.keys())).toEqual(gone);
    }),
  );
});
