import { expect, test } from 'vitest';
import { EarlyUpdates } from './early-updates.ts';

const update = (size: number) => ({ sessionUpdate: 'hologram', x: 'x'.repeat(size) });

test('updates that arrive before the answer to session/new are kept for the session, up to a limit', async () => {
  const early = new EarlyUpdates(() => undefined);
  early.keep('mine', update(1));
  await early.during(async () => {
    early.keep('other', update(2));
    for (let count = 0; count < 20; count += 1) early.keep('mine', update(1_500_000));
    expect(early.take('mine')).toEqual([update(1_500_000), update(1_500_000), { omitted: 18 }]);
    expect(early.take('other')).toEqual([update(2)]);
    early.keep('late', update(3));
  });
  expect(early.take('late')).toEqual([]);
});

test('kept updates of other sessions are passed on', async () => {
  const passed: unknown[] = [];
  const early = new EarlyUpdates((...update) => passed.push(update));
  await early.during(async () => {
    early.keep('child', 1);
    early.keep('begun', 2);
    expect(early.take('begun')).toEqual([2]);
  });
  expect(passed).toEqual([['child', 1]]);
  expect(early.keep('child', 3)).toBe(false);
});
