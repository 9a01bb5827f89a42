/** Tests `./liminal` as a new user runs it: in any folder, under any name, and in pipes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UpsertObject } from '@liminal/protocol';
import { partOf } from '@liminal/testkit/at-length';
import { afterEach, beforeEach, expect, test } from 'vitest';

const launcher = fileURLToPath(new URL('../liminal', import.meta.url));

let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-launcher-')));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs a line of shell in the folder, which is also the home folder. A link to the launcher is in PATH. */
function shell(line: string, env: NodeJS.ProcessEnv = {}) {
  symlinkSync(launcher, join(folder, 'liminal'));
  const path = [folder, process.env['PATH']].join(delimiter);
  const child = spawn('bash', ['-c', line], {
    cwd: folder,
    env: { PATH: path, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  return { child, said, over: once(child, 'close').then(() => said) };
}

test('if it is called through a link in PATH, the launcher works in the current folder', async () => {
  const line = `liminal run --data here --agent demo --set pace=instant --json 'explain  "$HOME"'; echo "code $?"`;
  const { out, err } = await shell(line).over;

  const lines = out.trimEnd().split('\n');
  expect(lines.pop()).toBe('code 0');
  const [first, ...rest] = lines.map((text): unknown => JSON.parse(text));
  // The arguments must be passed on unchanged, and standard output must contain only the output of the command itself.
  expect(UpsertObject.parse(first)).toMatchObject({ content: 'explain  "$HOME"', origin: 'user' });
  expect(rest.at(-1)).toMatchObject({ type: 'turn', status: 'complete' });
  expect(err).toMatch(/^Session /m);
  expect(existsSync(join(folder, 'here'))).toBe(true);
});

test('`liminal acp` works in a pipe as an editor’s agent, and writes only protocol messages to standard output', async () => {
  const params = { protocolVersion: 1, clientCapabilities: {} };
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const line = `echo '${hello}' | liminal acp --agent demo --data here; echo "code $?"`;
  const { out, err } = await shell(line).over;
  const { pid } = JSON.parse(readFileSync(join(folder, 'here/server.json'), 'utf8')) as {
    pid: number;
  };
  process.kill(pid);

  const [answer, ...rest] = out.trimEnd().split('\n');
  expect(JSON.parse(answer!)).toMatchObject({ id: 0, result: { protocolVersion: 1 } });
  expect(rest).toEqual(['code 0']);
  expect(err).toBe('');
  await expect.poll(() => existsSync(join(folder, 'here/server.json'))).toBe(false);
});

test('if the reader of a run’s output closes the pipe, the run ends without an error', async () => {
  const line = `liminal run --agent demo --set pace=fast long | head -1; echo "\${PIPESTATUS[@]}"`;
  const { out, err } = await shell(line).over;

  expect(out).toMatch(/^Demo, recorded: .*\n141 0\n$/);
  expect(err).toMatch(/^Session \S+\n$/);
});

const wrong: Record<string, [number, string]> = {
  'liminal nosuch': [2, 'There is no command "nosuch".'],
  'liminal --prot 1': [2, "unknown option '--prot'"],
  'liminal run': [2, "missing required argument 'prompt'"],
  'liminal tail nobody': [1, 'nobody'],
  'liminal --host 0.0.0.0': [1, '--insecure-host'],
};
test.each(partOf(wrong, ['liminal nosuch', 'liminal --host 0.0.0.0']))(
  '`%s` exits with its own exit code, and writes its message only to standard error',
  async (line, [code, words]) => {
    const { out, err } = await shell(`${line}; echo "code $?"`).over;
    expect(out).toBe(`code ${code}\n`);
    expect(err).toContain(words);
  },
);

test('options of the server may be placed before the command', async () => {
  const { out } = await shell('liminal --port 0 --data there doctor').over;
  expect(out).toContain(`Data folder ${join(folder, 'there')}`);
});

test('a signal reaches the server, which stops in an orderly way', async () => {
  const { child, said, over } = shell('exec liminal --port 0 --no-open');
  while (!said.out.includes('code=')) await once(child.stdout, 'data');
  child.kill('SIGTERM');
  await over;
  expect(child.exitCode).toBe(0);
});

test('if Node is outdated, one sentence reports this', async () => {
  const old = join(folder, 'old.cjs');
  const versions = `{ ...process.versions, node: '18.20.4' }`;
  writeFileSync(old, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const { out, err } = await shell('liminal doctor; echo "code $?"', {
    NODE_OPTIONS: `--require ${old}`,
  }).over;
  expect(out).toBe('code 1\n');
  expect(err).toMatch(/^Liminal needs Node 20 or newer, and this is Node 18\.20\.4\. .*\n$/);
});
