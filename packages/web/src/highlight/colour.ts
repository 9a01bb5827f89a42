import type { ColourResult, ColourTask } from './colour-worker.ts';
import type { ColouredLines } from './coloured-lines.ts';

/**
 * The longest time to colour one piece of code, in ms, including the time to load the language. Some languages' regular
 * expressions never end on some texts.
 */
const longest = 30_000;

interface PendingCode {
  code: string;
  language: string;
  resolve: (lines: ColouredLines | undefined) => void;
}

let worker: Worker | undefined;
/** The pieces of code that wait to be coloured. The worker is colouring the first of them. */
const queue: PendingCode[] = [];
let count = 0;
let timer: ReturnType<typeof setTimeout>;

/**
 * Returns the code's coloured lines; undefined if the code cannot be coloured. A worker, started on first use, colours
 * the code, because a long piece of code takes longer than a frame.
 */
export function colour(code: string, language: string): Promise<ColouredLines | undefined> {
  return new Promise((resolve) => {
    queue.push({ code, language, resolve });
    if (queue.length === 1) sendNext();
  });
}

/** Sends the first piece of code to the worker. */
function sendNext(): void {
  const [first] = queue;
  if (first === undefined) return;
  worker ??= startWorker();
  count += 1;
  const task: ColourTask = { id: count, code: first.code, language: first.language };
  worker.postMessage(task);
  timer = setTimeout(giveUp, longest);
}

/** Resolves the first piece of code, and continues with the next piece. */
function settle(lines: ColouredLines | undefined): void {
  clearTimeout(timer);
  queue.shift()?.resolve(lines);
  sendNext();
}

/** Resolves the first piece of code without colours, and starts a new worker for the next piece. */
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
  // The worker could not be loaded. The next piece of code starts it again.
  started.addEventListener('error', giveUp);
  return started;
}
