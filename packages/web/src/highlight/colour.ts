import type { ColourResult, ColourTask } from './colour-worker.ts';
import type { ColouredLines } from './coloured-lines.ts';

let worker: Worker | undefined;
let asked = 0;
const waiting = new Map<number, (lines: ColouredLines | undefined) => void>();

/**
 * The code's coloured lines; undefined where it cannot be coloured. On a thread of its own, which starts when it is
 * first needed: a long piece of code takes longer than a frame may.
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
  // It could not be loaded: the next code tries again.
  started.addEventListener('error', () => {
    started.terminate();
    worker = undefined;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  });
  return started;
}
