import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atLength } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const commands = commandsIn(await readFile(join(root, 'README.md'), 'utf8'));

/** How each kind of command is checked. The first pattern that matches a command is used. */
const checks: { fits: RegExp; check: (command: string) => Promise<void> }[] = [
  { fits: /^npm test$/, check: checkCiRunsTheSame },
  { fits: /^(?:\w+=\S+ )?npm start$/, check: checkServes },
  { fits: /^\.\/liminal --help$/, check: checkPrints(/Usage: liminal/) },
  { fits: /^\.\/liminal doctor$/, check: checkPrints(/ok +Liminal \d/) },
  { fits: /^\.\/liminal run --agent demo /, check: checkPrints(/Demo, recorded/) },
  // The test does not check the measured values, only that the benchmark runs.
  {
    fits: /^npm run bench$/,
    check: (command) => checkPrints(/^flatOut$/m)(`${command} -- --list`),
  },
];

let home: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'liminal-readme-'));
  // The home folder is empty, as it is for a new user. The only exception is that no browser window is opened.
  await mkdir(join(home, '.liminal'));
  await writeFile(join(home, '.liminal/liminal.json'), JSON.stringify({ open: false }));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map(end));
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

test('the README contains commands, and each command is of a kind that this test checks', () => {
  expect(commands).toContain('npm start');
  expect(commands).toContain('npm test');
  expect(commands.filter((command) => findCheck(command) === undefined)).toEqual([]);
});

/**
 * In long runs, also plays the commands that differ only in their environment, and a turn. `launcher.test.ts` plays
 * both faster.
 */
const run = commands.filter((command) => {
  const bare = command.replace(/^\w+=\S+ /, '');
  const isNew = bare === command || !commands.includes(bare);
  return atLength || (isNew && !command.startsWith('./liminal run '));
});

test.for(run)('the README’s `%s` does what it says', async (command) => {
  const check = findCheck(command);
  expect(check, `there is no check for ${command}`).toBeDefined();
  await check?.(command);
});

function findCheck(command: string) {
  return checks.find(({ fits }) => fits.test(command))?.check;
}

/** Returns the lines of all fenced blocks that contain shell commands. */
function commandsIn(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '');
  return blocks.flatMap((block) => block.split('\n').filter((line) => line.trim() !== ''));
}

/** Checks a command without starting it, because the command runs all tests. CI must run exactly this command. */
async function checkCiRunsTheSame(command: string): Promise<void> {
  const script = await readFile(join(root, '.ci/run'), 'utf8');
  expect(script.trimEnd().split('\n').at(-1)).toBe(`exec ${command}`);
}

async function checkServes(command: string): Promise<void> {
  const child = start(command);
  const link = await firstMatch(child, /http:\/\/\S+code=\S+/);
  const page = await fetch(link, { redirect: 'manual' });
  expect(page.status).toBe(200);
  const cookie = page.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const app = await fetch(new URL('/', link), { headers: { cookie } });
  expect(app.status).toBe(200);
  expect(await app.text()).toContain('<div id="root">');
  await end(child);
}

function checkPrints(expected: RegExp) {
  return async (command: string): Promise<void> => {
    const child = start(command);
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const [code] = await once(child, 'close');
    expect(printed).toMatch(expected);
    expect(code).toBe(0);
  };
}

/** Starts a command as a new user's shell does: in the clone, with an empty home folder. */
function start(command: string): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !isOurs(name));
  const env = { ...Object.fromEntries(inherited), HOME: home, NO_UPDATE_NOTIFIER: '1' };
  // Start a process group for the command, so that ending the group ends npm and all its children.
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  return child;
}

/** Whether the variable was set by this test run. A new user would not have such a variable. */
function isOurs(name: string): boolean {
  return /^(?:LIMINAL|VITEST|npm)_|^(?:NODE_ENV|VITEST|TEST|INIT_CWD)$/.test(name);
}

/** Resolves with the first output of the command that matches. The command keeps running. */
function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      const found = pattern.exec(printed)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`The command ended, and had printed: ${printed}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await exited;
}
