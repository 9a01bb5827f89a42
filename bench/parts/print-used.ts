/**
 * A module that a process started with `--expose-gc` imports. After SIGUSR2, the process prints how many bytes it uses,
 * including buffers.
 */
import { setImmediate } from 'node:timers/promises';

process.on('SIGUSR2', () => void collectAndPrint());

/** Collects garbage and prints the memory in use. The memory of buffers is freed in later turns of the event loop. */
async function collectAndPrint(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
}
