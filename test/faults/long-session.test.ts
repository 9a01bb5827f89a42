import { beforeAll, describe, expect, test } from 'vitest';
import type { Standing } from '../../bench/parts/long-session.ts';
import { leadLongSession } from '../../bench/parts/long-session.ts';
import { length } from './length.ts';

const { items, turns } = length;

/** A factor for noise: other programs may slow one measurement and not another. */
const noise = 10;
/** CPU time is less affected. */
const cpuNoise = 3;
/** A stored text is JSON with ids and times. */
const stored = 2;

describe(`a session of ${items} items in ${turns} turns, compared with its own beginning`, () => {
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

  test('the store grows in proportion to the text', () => {
    const text = last.textMiB - first.textMiB;
    expect((last.storeMiB - first.storeMiB) / text).toBeLessThan(stored);
  });

  test('a turn takes as long as one of the first turns, and so does its first character', () => {
    expect(last.turnCpuMs / first.turnCpuMs).toBeLessThan(cpuNoise);
    expect(last.firstFrameMs / first.firstFrameMs).toBeLessThan(noise);
  });

  test('opening the session takes as long as at its beginning', () => {
    expect(last.openCpuMs / first.openCpuMs).toBeLessThan(cpuNoise);
    expect(last.openMs / first.openMs).toBeLessThan(noise);
  });
});
