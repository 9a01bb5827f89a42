import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { atLength } from '@liminal/testkit/at-length';
import { bashTool } from '../../src/own/tools/bash.ts';
import { commandPermissions } from '../../src/own/tools/bash/command-rules.ts';
import { writeTool } from '../../src/own/tools/write.ts';
import { isAllowed } from '../../src/own/tools/permissions.ts';
import { serverId } from '../../src/process/mark.ts';
import { listProcesses, readEnviron } from '../../src/process/table.ts';
import { isThere } from '../process/tree.ts';
import { call, makeProject, refusal, nothingHidden } from './project.ts';

afterEach(() => vi.unstubAllEnvs());

async function run(input: { command: string; timeout?: number }, signal?: AbortSignal) {
  const project = await makeProject();
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const result = await call(bashTool(nothingHidden, ['OTHER_KEY']), project, input, {
    print,
    ...(signal && { signal }),
  });
  return { ...result, printed: printed.join(''), project };
}

/** Finds processes with this server's mark that have this word in their environment. */
function marked(word: string): number[] {
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => {
      const environ = readEnviron(pid) ?? '';
      return environ.includes(serverId) && environ.includes(word);
    });
}

describe('a command', () => {
  test('runs in the project folder, with its output and errors in the order in which they were printed', async () => {
    const { output, success, exitCode, printed, project } = await run({
      command: 'pwd; for n in 1 2 3; do echo out $n; echo err $n >&2; done',
    });
    const lines = ['out 1', 'err 1', 'out 2', 'err 2', 'out 3', 'err 3'];
    expect(output).toBe(`${[project.dir, ...lines].join('\n')}\n`);
    expect(printed).toBe(output);
    expect({ success, exitCode }).toEqual({ success: true, exitCode: 0 });
  });

  test.each([
    ['exit 3', { success: false, exitCode: 3, output: '(It printed nothing.)\n(exit code 3)' }],
    ['echo x; false', { success: false, exitCode: 1, output: 'x\n(exit code 1)' }],
    ['kill -KILL $$', { success: false, exitCode: null, output: expect.stringMatching(/SIGKILL/) }],
    ['no-such-program', { success: false, exitCode: 127 }],
    ['true', { success: true, exitCode: 0, output: '(It printed nothing.)' }],
    ['[[ a < b ]] && echo bash', { output: 'bash\n' }],
    [`echo "it's" 'a "test"' \\$x "$0"`, { output: `it's a "test" $x /bin/bash\n` }],
    ["printf 'ä€😀'", { output: 'ä€😀' }],
    ['-c', { success: false }],
    ['if', { success: false, output: expect.stringMatching(/syntax error/) }],
  ])('%s', async (command, expected) => {
    expect(await run({ command })).toMatchObject(expected);
  });

  test('has neither input nor a terminal', async () => {
    expect(await run({ command: 'cat; read x; echo "$?"' })).toMatchObject({ output: '1\n' });
    expect(await run({ command: '(: < /dev/tty) 2>/dev/null; echo $?' })).toMatchObject({
      output: '1\n',
    });
  });

  test('gets an environment without models’ keys, and of Liminal’s own variables only the mark', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'hide-1');
    vi.stubEnv('ANTHROPIC_API_KEY', 'hide-2');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'hide-3');
    vi.stubEnv('OTHER_KEY', 'hide-4');
    vi.stubEnv('LIMINAL_TOKEN', 'hide-5');
    vi.stubEnv('MINE', 'shown');
    const { output } = await run({ command: 'env' });
    expect(output).toContain('MINE=shown');
    expect(output).not.toContain('hide-');
  });

  test('with a NUL character is rejected', async () => {
    expect(await refusal(run({ command: 'echo \0' }))).toContain('NUL');
  });

  test('that cannot be started fails with an error that says so', async () => {
    expect(
      await refusal(call(bashTool(nothingHidden), { dir: '/nowhere' }, { command: 'true' })),
    ).toContain('could not be started');
    const { output } = await run({ command: `# ${'€'.repeat(29_900)}\necho ran` });
    expect(output).toBe('ran\n');
  });

  test('shows its output while it runs', async () => {
    const project = await makeProject();
    const first = Promise.withResolvers<string>();
    const calling = call(
      bashTool(nothingHidden),
      project,
      { command: 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo last' },
      { print: first.resolve },
    );
    expect(await first.promise).toBe('first\n');
    writeFileSync(join(project.dir, 'go'), '');
    expect((await calling).output).toBe('first\nlast\n');
  });

  test('that prints too much is ended, and its output is cut for people and the model', async () => {
    const before = process.memoryUsage().rss;
    const { output, printed, success } = await run({ command: 'echo begin; yes', timeout: 60_000 });
    expect(success).toBe(false);
    expect(output).toMatch(/^begin\ny\ny\n/);
    expect(output).toMatch(/\n\[\d+ characters left out\]\n/);
    expect(output).toMatch(/y\n\(It was ended because it printed more than 64 MiB\.\)$/);
    expect(output.length).toBeLessThan(31_000);
    expect(printed.length).toBeLessThan(300_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test('with much output keeps its beginning and its end', async () => {
    const { output } = await run({ command: 'seq 1 100000' });
    expect(output.startsWith('1\n2\n3\n')).toBe(true);
    expect(output.endsWith('99999\n100000\n')).toBe(true);
  });
});

const untilUp = 'while [ ! -e up ]; do :; done';
/** Commands that print the pid of a process that would outlive the command. */
const shapes: Record<string, string> = {
  'starts a background process': 'sleep 300 & echo $!',
  'detaches a process that keeps the pipe': `setsid sh -c '(sleep 300 & echo $!)'; true`,
  'forks twice, and closes everything': `(setsid sh -c 'echo $$; : > up; exec sleep 300 >/dev/null 2>&1' &); ${untilUp}`,
  'leaves a process that ignores SIGTERM': `sh -c 'trap "" TERM; echo $$; : > up; exec sleep 300' & ${untilUp}`,
  'uses nohup': 'nohup sleep 300 & echo $!',
};

describe('nothing is left of a command that', () => {
  test.each(Object.entries(shapes))('INV-8: %s', async (_name, command) => {
    vi.stubEnv('TOOL_TEST', 'ends-by-itself');
    const { output } = await run({ command });
    const pids = (output.match(/^\d+$/gm) ?? []).map(Number);
    expect(pids).toHaveLength(1);
    expect(pids.filter(isThere)).toEqual([]);
    expect(marked('ends-by-itself')).toEqual([]);
  });

  test.each(Object.entries(shapes))('INV-8: runs out of time and %s', async (_name, command) => {
    vi.stubEnv('TOOL_TEST', 'out-of-time');
    const { output, success } = await run({ command: `${command}; sleep 300`, timeout: 1_000 });
    expect(success).toBe(false);
    expect(output).toContain('It was ended after 1000 ms, with all that it started.');
    const pids = (output.match(/^\d+$/gm) ?? []).map(Number);
    expect(pids).toHaveLength(1);
    expect(pids.filter(isThere)).toEqual([]);
    expect(marked('out-of-time')).toEqual([]);
  });

  test('INV-8: ignores SIGTERM itself', async () => {
    vi.stubEnv('TOOL_TEST', 'ignores');
    const command = 'trap "" TERM; echo $$; while :; do sleep 300; done';
    const { output, exitCode } = await run({ command, timeout: 500 });
    expect(exitCode).toBeNull();
    expect(isThere(Number(output.split('\n')[0]))).toBe(false);
    expect(marked('ignores')).toEqual([]);
  });

  test('INV-8: is stopped while it runs', async () => {
    vi.stubEnv('TOOL_TEST', 'stopped');
    const project = await makeProject();
    const abort = new AbortController();
    const result = await call(
      bashTool(nothingHidden),
      project,
      { command: 'setsid sleep 300 & echo started; wait' },
      { signal: abort.signal, print: () => abort.abort() },
    );
    expect(result.success).toBe(false);
    expect(result.output).toBe('started\n(It was stopped, with all that it started.)');
    expect(marked('stopped')).toEqual([]);
  });

  test('exits with 0 after its time limit, and has not succeeded', async () => {
    const command = 'trap "exit 0" TERM; while :; do :; done';
    const { success, output } = await run({ command, timeout: 2_000 });
    expect(success).toBe(false);
    expect(output).toContain('It was ended after 2000 ms');
  });

  test('is stopped, and gets time to clean up', async () => {
    const project = await makeProject();
    const abort = new AbortController();
    await call(
      bashTool(nothingHidden),
      project,
      { command: 'trap ": > saved; exit" TERM; echo started; while :; do :; done' },
      { signal: abort.signal, print: () => abort.abort() },
    );
    expect(readdirSync(project.dir)).toContain('saved');
  });

  test('INV-8: was stopped before it began', async () => {
    vi.stubEnv('TOOL_TEST', 'before');
    const { success } = await run({ command: 'sleep 300' }, AbortSignal.abort());
    expect(success).toBe(false);
    expect(marked('before')).toEqual([]);
  });
});

test('git does not use a folder as a repository if file tools could have created its files', async () => {
  const project = await makeProject();
  const evil =
    '[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = "touch ran;false"\n';
  const files = { HEAD: 'ref: refs/heads/main\n', config: evil, 'objects/x': '', 'refs/x': '' };
  for (const [path, content] of Object.entries(files)) {
    await call(writeTool(nothingHidden), project, { path, content });
  }
  const status = async () => {
    const { output } = await call(bashTool(nothingHidden), project, { command: 'git status; ls' });
    return output;
  };
  expect(await status()).toContain('safe.bareRepository');
  // Git settings of the user in the environment do not change the result.
  vi.stubEnv('GIT_CONFIG_COUNT', '1');
  vi.stubEnv('GIT_CONFIG_KEY_0', 'user.name');
  vi.stubEnv('GIT_CONFIG_VALUE_0', 'Ada');
  expect(await status()).toContain('safe.bareRepository');
  const { output } = await call(bashTool(nothingHidden), project, {
    command: 'git config user.name; ls',
  });
  expect(output).toBe('Ada\nHEAD\nconfig\nobjects\nrefs\n');
});

test('SAFE: git does not compare files outside of the project without a question, not even through links', async () => {
  const project = await makeProject();
  project.write('a.txt', 'a');
  project.write('src/b.txt', 'b');
  symlinkSync(project.outside, join(project.dir, 'linked'));
  symlinkSync(join(project.outside, 'secret.txt'), join(project.dir, 'src/link.txt'));
  symlinkSync('src', join(project.dir, 'source'));
  const isGranted = async (command: string) => {
    const needed = (await bashTool(nothingHidden).needs({ command }, project.folders)) ?? [];
    return isAllowed(needed, ['command:git diff', 'command:git show']);
  };
  for (const command of [
    'git diff a.txt linked/secret.txt',
    'git diff -- linked/secret.txt a.txt',
    'git diff a.txt "linked/"secret.txt',
    'git diff a.txt src/link.txt',
    'git diff a.txt ./source/link.txt',
    'git diff a.txt linked',
  ]) {
    expect(await isGranted(command), command).toBe(false);
  }
  for (const command of [
    'git diff a.txt source/b.txt',
    'git diff main...dev',
    'git show HEAD:src/b.txt',
  ]) {
    expect(await isGranted(command), command).toBe(true);
  }
});

test('a command that a rule for its beginning allows runs nothing else, however bash parses the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'liminal-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [bin, work] = [join(folder, 'bin'), join(folder, 'work')];
  for (const one of [bin, work]) mkdirSync(one);
  for (const name of ['git', 'status'])
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  const evil = `#!/bin/sh\n: > '${work}/evil-ran'\n`;
  for (const name of ['evil', 'statusevil', 'gitevil']) {
    writeFileSync(join(bin, name), evil, { mode: 0o755 });
  }
  const pieces = [
    'git',
    'status',
    ' ',
    ' ',
    ' evil',
    'evil',
    ';',
    '&&',
    '||',
    '|',
    '&',
    '|&',
    '`',
    '$(',
    '$',
    ')',
    '(',
    '<(',
    '>',
    '>>',
    '<',
    '<<<',
    '\n',
    '\r',
    '\t',
    "'",
    '"',
    '\\',
    'X=1',
    'PATH=',

    '{',
    '}',
    '!',
    '#',
    '*',
    '~',
    '-x',
    '--a=b',
    'if',
    'then',
    'fi',
    'eval',
    'exec',
    '$X',
    ' x',
    'git status',
    '; git status',
    '&& git status',
    "'a b'",
    '"a b"',
    "$'\\n'",
    '${X}',
    '((',
    '[[',
  ];
  let ran = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 6 }), (parts) => {
      const command = `git status${parts.join('')}`;
      if (!isAllowed(commandPermissions(command), ['command:git status'])) return true;
      ran += 1;
      spawnSync('/bin/bash', ['-c', command], { cwd: work, env: { PATH: bin }, timeout: 10_000 });
      return readdirSync(work).length === 0;
    }),
    { numRuns: atLength ? 3_000 : 300 },
  );
  expect(ran).toBeGreaterThan(atLength ? 20 : 0);
});
