/** Another program that swaps a folder, or a file, with a link that leads out, as fast as it can. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';

const script = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [, place, target] = process.argv;
// What others have put there meanwhile goes; a link goes, and not what it leads to.
const clear = () => rmSync(place, { recursive: true, force: true });
const attempt = (step, instead) => { try { step(); } catch { instead?.(); } };
const wait = () => { for (let at = 0; at < 2000; at += 1); };
const steps = [
  () => renameSync(place, place + '.away'),
  () => { symlinkSync(target, place); wait(); },
  clear,
  () => { renameSync(place + '.away', place); wait(); },
];
process.stdout.write('ready');
for (;;) {
  // What a step finds in its way it clears; others may put something there even then, and the next round tries again.
  for (const step of steps) attempt(step, () => attempt(clear));
}`;

/** @param target - What a link in the place leads to for moments. */
export async function startRacer(place: string, target: string): Promise<void> {
  const racer = spawn(process.execPath, ['-e', script, place, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(racer, 'exit');
  onTestFinished(async () => {
    // Else what was tried was not raced.
    expect(racer.exitCode).toBeNull();
    racer.kill('SIGKILL');
    await exited;
  });
  await once(racer.stdout, 'data');
}
