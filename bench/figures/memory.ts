import { join } from 'node:path';
import { makeWorkspace } from '@liminal/testkit';
import type { Figure } from '../parts/figure.ts';
import { startLiminalServer } from '../parts/liminal-server.ts';
import { storeSession } from '../parts/stored-session.ts';

const sessionCount = 100;

/** Measures the memory of a server without sessions, and with open idle sessions. */
export async function* memory(): AsyncGenerator<Figure> {
  const workspace = await makeWorkspace();
  const { home, projectDir } = workspace;
  const dataDir = join(home, 'data');
  const ids = [];
  for (let i = 0; i < sessionCount; i++) ids.push(await storeSession(dataDir, projectDir, 100));
  const server = await startLiminalServer(dataDir, { PATH: process.env['PATH'], HOME: home });
  try {
    const { process, connection } = server;
    const alone = process.residentMiB;
    yield {
      name: 'server alone, resident',
      value: alone,
      unit: 'MiB',
      bound: { atMost: 120 },
      detail: 'just started, on a store of 100 sessions',
    };
    for (const id of ids) await connection.follow(id, () => {});
    const each = (process.residentMiB - alone) / sessionCount;
    yield {
      name: 'each open idle session, resident',
      value: each,
      unit: 'MiB',
      bound: { atMost: 1 },
      detail: `${sessionCount} sessions, each followed by a client`,
    };
  } finally {
    await server.process.end();
    await workspace.remove();
  }
}
