import { beforeAll, describe, expect, test } from 'vitest';
import type { Standing } from '../../bench/parts/long-session.ts';
import { leadLongSession } from '../../bench/parts/long-session.ts';
import { length } from './length.ts';

const { items, turns } = length;

/** What other programs on the machine add to one measured time and not to another. */
const NOISE = 10;
/** CPU time knows less of them. */
const CPU_NOISE = 3;
/** A stored text is JSON, with ids and times beside it. */
const STORED = 2;

describe(`a session of ${items} items in ${turns} turns, against its own beginning`, () => {
  let first: Standing;
  let last: Standing;

  beforeAll(
    async () => {
      ({ first, last } = await leadLongSession({
        turns,
        itemsPerTurn: items / turns,
        deltasPerItem: 100,
      }));
    },
    60_000 + turns * 15_000,
  );

  test('memory grows by less than the text', () => {
    expect(last.usedMiB - first.usedMiB).toBeLessThan(last.textMiB - first.textMiB);
  });

  test('the store grows with the text, and not by more', () => {
    const text = last.textMiB - first.textMiB;
    expect((last.storeMiB - first.storeMiB) / text).toBeLessThan(STORED);
  });

  test('a turn takes as long as one of the first, and its first character comes as soon', () => {
    expect(last.turnCpuMs / first.turnCpuMs).toBeLessThan(CPU_NOISE);
    expect(last.firstFrameMs / first.firstFrameMs).toBeLessThan(NOISE);
  });

  test('opening it takes as long as opening it took', () => {
    expect(last.openCpuMs / first.openCpuMs).toBeLessThan(CPU_NOISE);
    expect(last.openMs / first.openMs).toBeLessThan(NOISE);
  });
});
