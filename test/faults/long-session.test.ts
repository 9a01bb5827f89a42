import { beforeAll, describe, expect, test } from 'vitest';
import type { Standing } from '../../bench/parts/long-session.ts';
import { leadLongSession } from '../../bench/parts/long-session.ts';
import { length } from './length.ts';

const { items, turns } = length;

/** A factor for wall-clock times, because other programs may slow one measurement and not another. */
const noise = 10;
/** A factor for CPU times, which other programs affect less. */
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

  test('the server’s memory grows by less than the session’s text', () => {
    expect(last.usedMiB - first.usedMiB).toBeLessThan(last.textMiB - first.textMiB);
  });

  test('the store grows in proportion to the text', () => {
    const text = last.textMiB - first.textMiB;
    expect((last.storeMiB - first.storeMiB) / text).toBeLessThan(stored);
  });

  test('at the session’s end, a turn takes as long as at the beginning, and so does the turn’s first character', () => {
    expect(last.turnCpuMs / first.turnCpuMs).toBeLessThan(cpuNoise);
    expect(last.firstFrameMs / first.firstFrameMs).toBeLessThan(noise);
  });

  test('at the session’s end, opening the session takes as long as at the beginning', () => {
    expect(last.openCpuMs / first.openCpuMs).toBeLessThan(cpuNoise);
    expect(last.openMs / first.openMs).toBeLessThan(noise);
  });
});
