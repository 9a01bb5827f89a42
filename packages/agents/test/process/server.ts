/** A server to be killed: starts a guard and a tree, prints their pids, and stays. */
import { startGuard } from '../../src/process/guard.ts';
import { processMark } from '../../src/process/mark.ts';
import { reapOrphans } from '../../src/process/orphans.ts';
import { growTree } from './tree.ts';

const [, , guarded, dataDir, script = '', count = '0'] = process.argv;
if (dataDir) await reapOrphans(dataDir);
const guard = guarded === 'guarded' ? await startGuard() : undefined;
const { pids } = await growTree(script, Number(count), processMark().env);
process.once('SIGUSR2', () => void guard?.dismiss().then(() => console.log('dismissed')));
console.log(JSON.stringify({ guard: guard?.pid, pids }));
setInterval(() => {}, 1_000);
