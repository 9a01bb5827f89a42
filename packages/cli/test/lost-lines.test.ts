import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from './command.ts';

const source = new URL('../src/terminal/lost-lines.ts', import.meta.url).href;
/** A program that copies each line of its input to its log, and that reports lost lines in the same log. */
const program = `
  import { createInterface } from 'node:readline';
  import { LostLines } from '${source}';
  new LostLines(process.stderr, (lost) => process.stderr.write('lost: ' + lost + '\\n'));
  for await (const line of createInterface({ input: process.stdin })) {
    process.stderr.write(line + '\\n');
    process.stdout.write('.');
  }`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('SAFE: a line that does not fit into a log file is dropped and counted, even if a part of the line fits, and later lines are complete', async () => {
  const log = join(folder, 'server.log');
  const output = openSync(log, 'a');
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', output],
  });
  closeSync(output);
  let done = '';
  child.stdout!.on('data', (chunk: Buffer) => (done += chunk.toString()));
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
  const write = async (...lines: string[]) => {
    const until = done.length + lines.length;
    child.stdin!.write(lines.map((line) => `${line}\n`).join(''));
    await eventually(() => done).toHaveLength(until);
  };
  try {
    await write('first');
    limit(statSync(log).size + 3);
    await write('second', 'third', 'fourth');
    expect(readFileSync(log, 'utf8')).toBe('first\nsec');
    limit('unlimited');
    await eventually(() => readFileSync(log, 'utf8')).toBe('first\nsec\nlost: 3\n');
    await write('fifth');
    limit(statSync(log).size);
    await write('sixth');
    limit('unlimited');
    await eventually(() => readFileSync(log, 'utf8')).toBe('first\nsec\nlost: 3\nfifth\nlost: 1\n');
  } finally {
    child.kill('SIGKILL');
  }
});
