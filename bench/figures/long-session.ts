import type { Figure } from '../parts/figure.ts';
import { leadLongSession } from '../parts/long-session.ts';

const NAME = '10,000 items in 100 turns';

/** A session of 10,000 items in 100 turns, against itself when it was a tenth of that. */
export async function longSession(): Promise<Figure[]> {
  const { first, last } = await leadLongSession({
    turns: 100,
    itemsPerTurn: 100,
    deltasPerItem: 40,
  });
  const ratio = (name: string, a: number, b: number, unit: string, atMost: number): Figure => ({
    name: `${NAME}: ${name}, against a tenth of them`,
    value: b / a,
    unit: '×',
    bound: { atMost },
    detail: `${b.toFixed(1)} ${unit} against ${a.toFixed(1)} ${unit}`,
  });
  const growth = last.textMiB - first.textMiB;
  return [
    ratio('send to first frame', first.firstFrameMs, last.firstFrameMs, 'ms', 1.5),
    ratio('opening', first.openMs, last.openMs, 'ms', 1.5),
    ratio('store', first.storeMiB, last.storeMiB, 'MiB', last.textMiB / first.textMiB),
    {
      name: `${NAME}: memory grown by, against a tenth of them`,
      value: last.usedMiB - first.usedMiB,
      unit: 'MiB',
      bound: { atMost: growth },
      detail: `after garbage collection; ${growth.toFixed(1)} MiB of text, which is in the store`,
    },
  ];
}
