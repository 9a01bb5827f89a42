/**
 * Imported by a process with `--expose-gc`: SIGUSR2 makes the process print how many bytes are in use, including
 * buffers.
 */
import { setImmediate } from 'node:timers/promises';

process.on('SIGUSR2', () => void collectAndPrint());

/** Memory of buffers is freed in turns of the event loop after the collection. */
async function collectAndPrint(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
}
