import type { ColourResult, ColourTask } from './colour-worker.ts';
import type { ColouredLines } from './coloured-lines.ts';

let worker: Worker | undefined;
let asked = 0;
const waiting = new Map<number, (lines: ColouredLines | undefined) => void>();

/**
 * The code's coloured lines; undefined if it cannot be coloured. Runs in a worker, started on first use: a long piece
 * of code takes longer than a frame.
 */
export function colour(code: string, language: string): Promise<ColouredLines | undefined> {
  worker ??= startWorker();
  asked += 1;
  const task: ColourTask = { id: asked, code, language };
  worker.postMessage(task);
  return new Promise((resolve) => waiting.set(task.id, resolve));
}

function startWorker(): Worker {
  const started = new Worker(new URL('./colour-worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<ColourResult>) => {
    waiting.get(data.id)?.(data.lines);
    waiting.delete(data.id);
  });
  // Loading failed: the next code tries again.
  started.addEventListener('error', () => {
    started.terminate();
    worker = undefined;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  });
  return started;
}
