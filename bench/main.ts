/**
 * Prints every figure with its bound and the machine; exits 1 if one misses its bound. `npm run bench [-- NAME…]`;
 * `--list` names the groups of figures.
 */
import { cpus, totalmem } from 'node:os';
import { opening } from './figures/opening.ts';
import { hostile } from './figures/hostile.ts';
import { longSession } from './figures/long-session.ts';
import { models } from './figures/models.ts';
import { memory } from './figures/memory.ts';
import { page } from './figures/page.ts';
import { acpFlatOut, acpLatency, bytesPerToken, flatOut, latency } from './figures/pipeline.ts';
import { codex } from './figures/codex.ts';
import { editor } from './figures/editor.ts';
import { claudeCold, claudeWarm } from './figures/claude.ts';
import { readers } from './figures/readers.ts';
import { redis } from './figures/redis.ts';
import { stored } from './figures/stored.ts';
import { type Figure, meets } from './parts/figure.ts';

const groups: Record<string, () => Promise<Figure[]>> = {
  flatOut,
  latency,
  acpFlatOut,
  acpLatency,
  editor,
  models,
  bytesPerToken,
  claudeWarm,
  claudeCold,
  codex,
  opening,
  memory,
  longSession,
  page,
  redis,
  readers,
  stored,
  hostile,
};

const wanted = process.argv.slice(2);
if (wanted.includes('--list')) {
  console.log(Object.keys(groups).join('\n'));
  process.exit(0);
}
const unknown = wanted.filter((name) => !(name in groups));
if (unknown.length > 0) {
  console.error(
    `No such figure: ${unknown.join(', ')}. There are: ${Object.keys(groups).join(', ')}.`,
  );
  process.exit(2);
}

const [cpu] = cpus();
console.log(
  `${cpus().length} × ${cpu?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${new Date().toISOString()}`,
);
let missed = 0;
for (const [name, measure] of Object.entries(groups)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const figure of await measure()) {
    if (!meets(figure)) missed += 1;
    console.log(describe(figure));
  }
}
console.log(missed === 0 ? 'Every figure meets its bound.' : `${missed} figures miss their bound.`);
process.exitCode = missed === 0 ? 0 : 1;

function describe(figure: Figure): string {
  const { name, value, unit, bound, detail } = figure;
  const limit = 'atMost' in bound ? `≤ ${bound.atMost}` : `≥ ${bound.atLeast}`;
  const mark = meets(figure) ? 'ok  ' : 'MISS';
  return `${mark}  ${name}: ${Number(value.toPrecision(4))} ${unit} (${limit} ${unit})  ${detail}`;
}
