import type { Figure } from '../parts/figure.ts';
import type { Standing } from '../parts/long-session.ts';
import { leadLongSession } from '../parts/long-session.ts';

const sessionName = '10,000 items in 100 turns';

/** Compares a session of 10,000 items in 100 turns with the same session at a tenth of its length. */
export async function* longSession(): AsyncGenerator<Figure> {
  const { first, last } = await leadLongSession({
    turns: 100,
    itemsPerTurn: 100,
    deltasPerItem: 40,
  });
  const grown = (what: keyof Standing, unit: string): string =>
    `${last[what].toFixed(1)} ${unit} against ${first[what].toFixed(1)} ${unit}`;
  const ratio = (name: string, what: keyof Standing, atMost: number, detail: string): Figure => ({
    name: `${sessionName}: ${name}, against a tenth of them`,
    value: last[what] / first[what],
    unit: '×',
    bound: { atMost },
    detail,
  });
  const text = last.textMiB - first.textMiB;
  yield ratio(
    'send to first frame',
    'firstFrameMs',
    1.5,
    `${grown('firstFrameMs', 'ms')}; the server’s CPU for a turn: ${grown('turnCpuMs', 'ms')}`,
  );
  yield ratio(
    'opening',
    'openMs',
    1.5,
    `${grown('openMs', 'ms')}; the server’s CPU for it: ${grown('openCpuMs', 'ms')}`,
  );
  yield ratio('store', 'storeMiB', last.textMiB / first.textMiB, grown('storeMiB', 'MiB'));
  yield {
    name: `${sessionName}: memory in use grown by, against a tenth of them`,
    value: last.usedMiB - first.usedMiB,
    unit: 'MiB',
    bound: { atMost: text },
    detail: `after garbage collection; ${text.toFixed(1)} MiB of text, which is in the store`,
  };
}
