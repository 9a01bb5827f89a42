/**
 * A server that tests kill or suspend. The server starts a guard and a process tree, prints their pids, and keeps
 * running.
 */
import { uptime } from 'node:os';
import { startGuard } from '../../src/process/guard.ts';
import { processMark } from '../../src/process/mark.ts';
import { reapOrphans } from '../../src/process/orphans.ts';
import { growTree } from './tree.ts';

const [, , guarded, dataDir, script = '', count = '0'] = process.argv;
if (dataDir) await reapOrphans(dataDir);
const watches = guarded === 'watched';
const guard = watches || guarded === 'guarded' ? await startGuard({ watches }) : undefined;
/** Sets the guard's deadline, as a server does when it renews its leases. */
const renew = () => guard?.endAt(uptime() * 1000 + 5_000);
if (watches) {
  renew();
  setInterval(renew, 100);
}
const { pids } = await growTree(script, Number(count), processMark().env);
process.on('SIGUSR1', () => {
  void growTree('sleep 300 & echo $!; wait', 1, processMark().env).then(({ pids }) =>
    console.log(JSON.stringify(pids)),
  );
});
process.once('SIGUSR2', () => void guard?.dismiss().then(() => console.log('dismissed')));
console.log(JSON.stringify({ guard: guard?.pid, pids }));
setInterval(() => {}, 1_000);
