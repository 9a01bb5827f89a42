/** A program that, as fast as possible, swaps a folder or file with a link that leads out of the project. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';

const script = `
const { renameSync, rmSync, symlinkSync } = require('node:fs');
const [, place, target] = process.argv;
// Removes the entry at the place; of a link, only the link and not its target.
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
  // If a step fails, the place is cleared. If the racer had ended early, the calls would have run without interference.
  for (const step of steps) attempt(step, () => attempt(clear));
}`;

/** @param target - The target of the link that is at `place` from time to time. */
export async function startRacer(place: string, target: string): Promise<void> {
  const racer = spawn(process.execPath, ['-e', script, place, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(racer, 'exit');
  onTestFinished(async () => {
    // If the racer had ended early, the calls would not have been raced.
    expect(racer.exitCode).toBeNull();
    racer.kill('SIGKILL');
    await exited;
  });
  await once(racer.stdout, 'data');
}
