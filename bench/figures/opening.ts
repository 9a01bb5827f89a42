import { makeWorkspace } from '@liminal/testkit';
import { join } from 'node:path';
import type { Figure } from '../parts/figure.ts';
import { median, percentile, repeat } from '../parts/figure.ts';
import { startLiminalServer } from '../parts/liminal-server.ts';
import { storeSession } from '../parts/stored-session.ts';

/** Measures the time from requesting a stored session of 1,000 items to receiving its first page. */
export async function* opening(): AsyncGenerator<Figure> {
  const workspace = await makeWorkspace();
  const { home, projectDir } = workspace;
  const dataDir = join(home, 'data');
  const sessionId = await storeSession(dataDir, projectDir, 1_000);
  const env = { PATH: process.env['PATH'], HOME: home };
  const server = await startLiminalServer(dataDir, env);
  try {
    const times = await repeat(20, async () => {
      const start = performance.now();
      const socket = await server.connection.follow(sessionId, () => {});
      const elapsed = performance.now() - start;
      socket.close();
      return elapsed;
    });
    const [first = Number.NaN] = times;
    const detail = `first after the start of the server; later median ${median(times).toFixed(1)} ms, p95 ${percentile(times, 95).toFixed(1)} ms`;
    yield {
      name: 'opening a session of 1,000 items, first frame',
      value: first,
      unit: 'ms',
      bound: { atMost: 50 },
      detail,
    };
  } finally {
    await server.process.end();
    await workspace.remove();
  }
}
