/** `liminal diff`. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionDiff } from '@liminal/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home } from './command.ts';

let home: Home;
let sessionId: string;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], {
    cwd: home.project,
    encoding: 'utf8',
  });
const write = (name: string, text: string) => writeFileSync(join(home.project, name), text);

beforeAll(async () => {
  home = new Home();
  const client = clientOf(await home.serve());
  const wanted = { cliType: 'demo', projectDir: home.project };
  ({ sessionId } = await client.requests.createSession(wanted));
  client.close();
});
afterAll(() => home.close());

test('if the project is not in a repository, the reason is printed', async () => {
  expect(await home.play('diff', sessionId)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('The project folder is not in a git repository.') as string,
  });
});

test('each changed file is printed: with its lines, with only its counts, or as JSON', async () => {
  git('init', '-q', '-b', 'main');
  write('a.ts', 'one\ntwo\nthree\n');
  write('old.ts', 'the same content\n');
  git('add', '-A');
  git('commit', '-qm', 'All');
  const commit = git('rev-parse', 'HEAD').trim();
  write('a.ts', 'one\n2 \u202E\nthree\n');
  git('mv', 'old.ts', 'new.ts');
  const base = `2 files differ from commit ${commit.slice(0, 10)} of branch main.`;
  expect(await home.play('diff', sessionId)).toEqual({
    exitCode: 0,
    stderr: '',
    stdout: [
      base,
      '',
      'modified   a.ts  +1 -1',
      '  @@ -1 +1 @@',
      '   one',
      '  -two',
      '  +2 ‹U+202E›',
      '   three',
      '',
      'renamed    old.ts → new.ts  +0 -0',
      '  Renamed from old.ts.',
      '  The content is the same.',
      '',
    ].join('\n'),
  });
  expect((await home.play('diff', sessionId, '--stat')).stdout).toBe(
    [base, 'modified   a.ts  +1 -1', 'renamed    old.ts → new.ts  +0 -0', ''].join('\n'),
  );
  const { stdout } = await home.play('diff', sessionId, '--json');
  expect(stdout).not.toContain('\u202E');
  expect(SessionDiff.parse(JSON.parse(stdout))).toMatchObject({
    commit,
    files: [
      { path: 'a.ts', added: 1 },
      { path: 'new.ts', oldPath: 'old.ts' },
    ],
  });
});
