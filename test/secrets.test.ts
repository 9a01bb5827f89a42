/**
 * Tests that other processes cannot see the secrets that a server gets in its environment, for every way to start a
 * server.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));
const serverArgs = ['--port', '0', '--no-open'];
/** Every way to start a server. `npm` itself is not a program of Liminal, and keeps its environment. */
const ways = [
  { way: 'bin/liminal.js', command: [process.execPath, 'packages/cli/bin/liminal.js'] },
  {
    way: './liminal, which also has its token in its arguments,',
    command: ['./liminal'],
    tells: true,
  },
  { way: 'npm start', command: ['npm', 'start', '--silent', '--'], stays: true },
  // This is the command that `npm start` runs.
  {
    way: 'scripts/bootstrap.mjs',
    command: ['node', 'scripts/bootstrap.mjs', 'start'],
    later: true,
  },
].filter(({ later = false }) => atLength || !later);

let folder: string;
let secret: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-secrets-')));
  secret = `hidden-${Math.random().toString(36).slice(2)}-${process.pid}`;
});

afterEach(async () => {
  for (const child of started.splice(0)) {
    const over = child.exitCode === null && child.signalCode === null && once(child, 'close');
    child.kill('SIGTERM');
    await over;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function start([program, ...args]: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(program!, args, {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  const heard = async (words: string, from: 'out' | 'err' = 'out') => {
    await expect.poll(() => said[from], { timeout: 60_000 }).toContain(words);
  };
  return { child, said, heard, over: once(child, 'close') };
}

/** Returns all processes of the machine whose environment or arguments contain a text. */
function showing(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) =>
      ['environ', 'cmdline'].some((what) => read(`/proc/${pid}/${what}`).includes(text)),
    )
    .map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

const linux = process.platform === 'linux';

test.runIf(linux).each(ways)(
  'SAFE: if a server is started by $way, none of its processes shows its secrets',
  async ({ command, stays = false, tells = false }) => {
    const args = tells ? ['--token', secret, `--token=${secret}`] : [];
    const { child, said, heard, over } = start([...command, ...serverArgs, ...args], {
      LIMINAL_TOKEN: secret,
      LIMINAL_DATABASE_SECRET: `${secret}-of-the-database`,
      AN_AGENTS_KEY: 'an-agents-key',
    });
    await heard('/?code=');

    expect(showing(secret)).toEqual(stays ? [child.pid] : []);
    const warned = `LIMINAL_TOKEN in the environment of process ${child.pid} `;
    expect(said.err.includes(warned)).toBe(stays);

    const url = /http:\/\/[^/]+/.exec(said.out)![0];
    const answer = async (token: string) =>
      fetch(`${url}/api/agents`, { headers: { authorization: `Bearer ${token}` } });
    expect((await answer(secret)).status).toBe(200);
    expect((await answer(`not-${secret}`)).status).toBe(401);

    const server = Number(JSON.parse(read(join(folder, '.liminal/server.json'))).pid);
    expect(read(`/proc/${server}/environ`)).toContain('AN_AGENTS_KEY=an-agents-key');
    child.kill('SIGTERM');
    expect(await over).toEqual([0, null]);
    await expect.poll(() => showing(folder), { timeout: 20_000 }).toEqual([]);
  },
);

test.runIf(linux)(
  'SAFE: if a command starts a server for itself, no process shows a secret',
  async () => {
    const command = ['./liminal', 'run', '--agent', 'demo', '--dir', folder, 'slow'];
    const { child, heard, over } = start(command, { LIMINAL_TOKEN: secret });
    await heard('Session ', 'err');
    expect(showing(secret)).toEqual([]);
    child.kill('SIGTERM');
    await over;
  },
);
