/**
 * An MCP server that records when an agent has listed its tools. The tests wait for that, because an agent without the
 * tools would report that to the model.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { greeter } from '@liminal/testkit';
import { vi } from 'vitest';

const noteIn = (home: string): string => join(home, 'greeter.jsonl');

/** The command for the server; its responses are also written to a file in `home`. */
export function notedGreeter(home: string) {
  const { command, args, env } = greeter();
  const line = [command, ...args].map((word) => `'${word}'`).join(' ');
  return { command: 'sh', args: ['-c', `${line} | tee -a '${noteIn(home)}'`], env };
}

/** Resolves when `start` has ended and a newly started server has listed its tools. */
export async function withGreeter(home: string, start: () => Promise<void>): Promise<void> {
  const file = noteIn(home);
  const count = (): number =>
    existsSync(file) ? readFileSync(file, 'utf8').split('"name":"greet"').length : 1;
  const before = count();
  await start();
  await vi.waitUntil(() => count() > before, { timeout: 60_000 });
}
