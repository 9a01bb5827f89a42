import { beforeAll, describe, expect, test } from 'vitest';
import type { Standing } from '../../bench/parts/long-session.ts';
import { leadLongSession } from '../../bench/parts/long-session.ts';
import { length } from './length.ts';

const { items, turns } = length;

/** A factor for limits on wall-clock times, because other programs may slow down one measurement and not the next. */
const noise = 10;
/** A factor for limits on CPU times, which other programs affect less. */
const cpuNoise = 3;
/** A text is stored as JSON together with ids and times. */
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

  test('the store grows in proportion to the session’s text', () => {
    const text = last.textMiB - first.textMiB;
    expect((last.storeMiB - first.storeMiB) / text).toBeLessThan(stored);
  });

  test('at the session’s end, a turn takes as long as at the session’s beginning, and so does the first character of a turn', () => {
    expect(last.turnCpuMs / first.turnCpuMs).toBeLessThan(cpuNoise);
    expect(last.firstFrameMs / first.firstFrameMs).toBeLessThan(noise);
  });

  test('opening the session takes as long at the session’s end as at its beginning', () => {
    expect(last.openCpuMs / first.openCpuMs).toBeLessThan(cpuNoise);
    expect(last.openMs / first.openMs).toBeLessThan(noise);
  });
});
