import type { ColourResult, ColourTask } from './colour-worker.ts';
import type { ColouredLines } from './coloured-lines.ts';

/**
 * Longest time to colour one piece of code (ms), with what is loaded for it. Some expressions of some languages never end
 * on some texts.
 */
const longest = 30_000;

interface Asked {
  code: string;
  language: string;
  resolve: (lines: ColouredLines | undefined) => void;
}

let worker: Worker | undefined;
/** Waiting for their turn; the worker has the first. */
const asked: Asked[] = [];
let count = 0;
let timer: ReturnType<typeof setTimeout>;

/**
 * The code's coloured lines; undefined if it cannot be coloured. Runs in a worker, started on first use: a long piece
 * of code takes longer than a frame.
 */
export function colour(code: string, language: string): Promise<ColouredLines | undefined> {
  return new Promise((resolve) => {
    asked.push({ code, language, resolve });
    if (asked.length === 1) ask();
  });
}

/** Gives the first piece to the worker. */
function ask(): void {
  const [first] = asked;
  if (first === undefined) return;
  worker ??= startWorker();
  count += 1;
  const task: ColourTask = { id: count, code: first.code, language: first.language };
  worker.postMessage(task);
  timer = setTimeout(giveUp, longest);
}

/** Ends the first piece, and goes on with the next. */
function settle(lines: ColouredLines | undefined): void {
  clearTimeout(timer);
  asked.shift()?.resolve(lines);
  ask();
}

/** The first piece stays plain. The next one has a new worker. */
function giveUp(): void {
  worker?.terminate();
  worker = undefined;
  settle(undefined);
}

function startWorker(): Worker {
  const started = new Worker(new URL('./colour-worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<ColourResult>) => {
    if (data.id === count) settle(data.lines);
  });
  // Loading failed: the next code tries again.
  started.addEventListener('error', giveUp);
  return started;
}
