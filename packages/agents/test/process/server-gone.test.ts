import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startGuard } from '../../src/process/guard.ts';
import { reapOrphans } from '../../src/process/orphans.ts';
import { readProcess } from '../../src/process/table.ts';
import { isThere, untilGone } from './tree.ts';

const program = fileURLToPath(new URL('./server.ts', import.meta.url));
/**
 * A script that starts a fork, a detached double fork, a process that ignores SIGTERM, and a process that also clears
 * its environment.
 */
const script = `
sleep 300 & echo $!
setsid sh -c '(sleep 300 & echo $!)'
setsid sh -c 'trap "" TERM; echo $$; exec sleep 300' &
env -i /bin/sh -c 'trap "" TERM; echo $$; exec /bin/sleep 300' &
wait`;
/**
 * A script that starts a process session: the leader ignores SIGTERM, and a member has left the tree and has no
 * environment.
 */
const besideLeader = `
setsid sh -c 'trap "" TERM; env -i /bin/sh -c "/bin/sleep 300 & echo \\$!"; echo $$; exec sleep 300' &
wait`;

interface Server {
  child: ChildProcess;
  guard: number | undefined;
  pids: number[];
  lines: AsyncIterator<string>;
}

let dataDir: string;
const toEnd: number[] = [];
/** Resolves when a started server ends; until then, the reaper must not end its processes. */
let ended: Promise<unknown>;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'liminal-orphans-'));
});
afterEach(async () => {
  for (const pid of toEnd.splice(0)) if (isThere(pid)) process.kill(pid, 'SIGKILL');
  await ended;
  await reapOrphans(dataDir, { graceMs: 0 });
  await rm(dataDir, { recursive: true, force: true });
});

async function startServer(
  guarded: 'guarded' | 'watched' | 'alone',
  env: Record<string, string> = {},
  [tree, count] = [script, 4],
): Promise<Server> {
  const child = spawn(process.execPath, [program, guarded, dataDir, tree, String(count)], {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ended = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const first = (await lines.next()) as { value: string };
  const { guard, pids } = JSON.parse(first.value) as { guard?: number; pids: number[] };
  toEnd.push(child.pid!, ...pids, ...(guard ? [guard] : []));
  return { child, guard, pids, lines };
}

/** Kills the server, but not the other processes of its group. */
async function kill({ child }: Server): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

async function killGroup({ child }: Server): Promise<void> {
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
}

describe('the guard', () => {
  test('INV-8: is not in the server’s process group, and continues if the group is killed', async () => {
    const server = await startServer('guarded');

    await killGroup(server);

    await untilGone([...server.pids, server.guard!]);
  });

  test('INV-8: ignores signals while the server lives; after the server was killed, ends the server’s processes, then itself', async () => {
    const server = await startServer('guarded');
    expect(server.pids.filter(isThere)).toHaveLength(4);
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      process.kill(server.guard!, signal);
    }

    await kill(server);

    await untilGone([...server.pids, server.guard!]);
  });

  test('INV-8: kills processes that ignore SIGTERM after a grace period measured in seconds, not in numbers of searches', async () => {
    const looks = join(dataDir, 'looks');
    // Each search for marks takes one second.
    await writeFile(
      join(dataDir, 'grep'),
      `#!/bin/sh\necho >>'${looks}'\n/bin/sleep 1\nexec /bin/grep "$@"\n`,
      { mode: 0o755 },
    );
    const server = await startServer('guarded', { PATH: `${dataDir}:${process.env['PATH']}` });

    await kill(server);
    await untilGone(server.pids);

    // By now the guard has searched about twice. If the guard waited for a number of searches instead of seconds, it
    // would have searched 20 times.
    expect((await readFile(looks, 'utf8')).length).toBeLessThan(10);
    await untilGone([server.guard!]);
  });

  test('INV-8: ends a process that has no environment and no parent, if it is in the process session of a marked process', async () => {
    const server = await startServer('guarded', {}, [besideLeader, 2]);
    expect(server.pids.filter(isThere)).toHaveLength(2);

    await kill(server);

    await untilGone([...server.pids, server.guard!]);
  });

  test('INV-8: ignores signals as soon as it has started', async () => {
    const guard = await startGuard();
    process.kill(guard.pid!, 'SIGTERM');

    await once(spawn('/bin/true'), 'exit');

    expect(isThere(guard.pid!)).toBe(true);
    await guard.dismiss();
    expect(isThere(guard.pid!)).toBe(false);
  });

  test('uses less than 5 MB of memory', async () => {
    const { guard } = await startServer('guarded');

    const status = await readFile(`/proc/${guard}/status`, 'utf8');

    expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(5_000);
  });

  test.each(['guarded', 'watched'] as const)(
    'exits without ending processes if it is dismissed (%s)',
    async (guarded) => {
      const server = await startServer(guarded);

      server.child.kill('SIGUSR2');

      expect(await server.lines.next()).toMatchObject({ value: 'dismissed' });
      expect(isThere(server.guard!)).toBe(false);
      expect(server.pids.filter(isThere)).toHaveLength(4);
    },
  );
});

describe('the guard of a server with leases', () => {
  test('INV-8: ends a suspended server’s processes when its leases expire, and also the processes that the server starts later', async () => {
    const server = await startServer('watched');
    process.kill(server.child.pid!, 'SIGSTOP');

    await untilGone(server.pids);

    expect(isThere(server.guard!)).toBe(true);
    process.kill(server.child.pid!, 'SIGCONT');
    server.child.kill('SIGUSR1');
    const { value } = (await server.lines.next()) as { value: string };
    const later = JSON.parse(value) as number[];
    toEnd.push(...later);
    process.kill(server.child.pid!, 'SIGSTOP');
    await untilGone(later);

    await kill(server);
    await untilGone([server.guard!]);
  });

  test('INV-8: ends a killed server’s processes, no matter when its leases expire', async () => {
    const server = await startServer('watched');

    await kill(server);

    await untilGone([...server.pids, server.guard!]);
  });
});

test('a suspended guard does not keep its server from ending', async () => {
  const guard = await startGuard();
  process.kill(guard.pid!, 'SIGSTOP');
  toEnd.push(guard.pid!);
  await guard.dismiss();
  expect(isThere(guard.pid!)).toBe(false);
});

describe('the reaper at start-up', () => {
  test('INV-8: ends the processes of a dead server with the same data folder', async () => {
    const server = await startServer('alone');
    await kill(server);
    expect(server.pids.filter(isThere)).toHaveLength(4);

    const { ended } = await reapOrphans(dataDir, { graceMs: 300 });

    expect(ended).toBeGreaterThanOrEqual(4);
    expect(server.pids.filter(isThere)).toEqual([]);
    // The folder has only this server's entry.
    expect(await readdir(join(dataDir, 'servers'))).toHaveLength(1);
  });

  test('does not end the agents of a server that is alive', async () => {
    const server = await startServer('alone');

    expect(await reapOrphans(dataDir)).toEqual({ ended: 0 });

    expect(server.pids.filter(isThere)).toHaveLength(4);
  });

  test('does not end the agents of a server with another data folder', async () => {
    const server = await startServer('alone');
    const elsewhere = await mkdtemp(join(tmpdir(), 'liminal-elsewhere-'));
    const detached = server.pids[1]!;
    await killGroup(server);

    expect(await reapOrphans(elsewhere)).toEqual({ ended: 0 });

    expect(isThere(detached)).toBe(true);
    await rm(elsewhere, { recursive: true });
  });

  test('INV-8: a server inside another server’s agent passes on the other server’s marks to its own agents', async () => {
    const server = await startServer('alone', { LIMINAL_MARK: 'outer/1' });

    // While a process is in the middle of an exec, it shows no environment.
    const environ = () => readFile(`/proc/${server.pids[1]}/environ`, 'utf8');
    await expect.poll(environ).toMatch(/LIMINAL_MARK=outer\/1 \d+\.\d+\.\w+\/[\w-]+\/other\0/);
    expect(readProcess(server.pids[1]!)).toBeDefined();
  });
});
