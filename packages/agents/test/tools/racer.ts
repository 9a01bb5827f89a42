/** Another program that swaps a folder, or a file, with a link that leads out, as fast as it can. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

const script = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [, place, target] = process.argv;
// What others have put there meanwhile goes; a link goes, and not what it leads to.
const clear = () => rmSync(place, { recursive: true, force: true });
const attempt = (step) => { try { step(); } catch { clear(); } };
const wait = () => { for (let at = 0; at < 2000; at += 1); };
process.stdout.write('ready');
for (;;) {
  attempt(() => renameSync(place, place + '.away'));
  attempt(() => symlinkSync(target, place));
  wait();
  attempt(clear);
  attempt(() => renameSync(place + '.away', place));
  wait();
}`;

/** @param target - What a link in the place leads to for moments. */
export async function startRacer(place: string, target: string): Promise<void> {
  const racer = spawn(process.execPath, ['-e', script, place, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(racer, 'exit');
  onTestFinished(async () => {
    racer.kill('SIGKILL');
    await exited;
  });
  await once(racer.stdout, 'data');
}
