import { spawn } from 'node:child_process';
import type { Tally } from './tally.ts';

/** A check: a program that ends with code 0 if the check passes. */
export type Check = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
};

/** The time after which a check is ended as hanging, in ms. */
const patience = 10 * 60_000;

type Outcome = { readonly ok: boolean; readonly output: string };

/** Runs a check to its end; shows the check's output only if the check failed. Never throws. */
export async function runCheck(check: Check): Promise<Tally> {
  const start = performance.now();
  const { ok, output } = await run(check);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${ok ? '✓' : '✗'} ${check.name} (${seconds} s)`);
  if (!ok) console.log(output.trimEnd());
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

function run({ command, args }: Check): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patience,
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    const end = (ok: boolean, note = '') => {
      resolve({ ok, output: Buffer.concat(chunks).toString() + note });
    };
    child.once('error', (error) => end(false, `${command} could not start: ${error.message}`));
    child.once('close', (code, signal) => end(code === 0, signal ? `ended by ${signal}` : ''));
  });
}
