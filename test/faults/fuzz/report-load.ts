/**
 * Module that the server under test imports (`--import`). It serves measurements of the process on the socket at the
 * path in `FUZZ_REPORTS`.
 */
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

/** The time between two measurements, in ms. */
const everyMs = 20;

const path = process.env['FUZZ_REPORTS'];
// Agents inherit the environment, and threads inherit the arguments.
delete process.env['FUZZ_REPORTS'];
if (isMainThread && path !== undefined) report(path);

function report(socketPath: string): void {
  let worst = 0;
  let before = process.threadCpuUsage();
  // The timer runs once in each turn of the event loop. The thread's processor time since the timer's last run is
  // therefore the work of one turn. Time in which a busy machine did not run the thread is not included.
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    worst = Math.max(worst, (user + system) / 1_000);
  }, everyMs).unref();

  const server = createServer((request, response) => {
    if (request.url === '/memory') {
      void memory().then((all) => response.end(JSON.stringify(all)));
      return;
    }
    response.end(JSON.stringify({ stallMs: Math.round(worst) }));
    worst = 0;
  });
  server.listen(socketPath).unref();
}

/**
 * Measures the memory after garbage collection. Buffers are freed only in turns of the event loop that follow a
 * collection.
 */
async function memory() {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await setImmediate();
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((one) => one === 'TCPSocketWrap').length;
  return { rss, used: heapUsed + external, sockets };
}
