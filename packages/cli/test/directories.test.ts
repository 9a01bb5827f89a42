/** Tests `run --add-dir`, `directories`, `setup` and `aside` with the real Claude Code. */
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { claudeEnvironment, reply, startMessagesApi } from '@liminal/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Home } from './command.ts';

let home: Home;
let api: Awaited<ReturnType<typeof startMessagesApi>>;

beforeAll(async () => {
  home = new Home();
  api = await startMessagesApi({ script: [reply('One.'), reply('Aside.')] });
  await home.serve([], claudeEnvironment(home.folder, api.url));
});
afterAll(async () => {
  await home.close();
  await api.close();
});

test('`run` starts a session with additional folders, and `directories` lists and changes them', async () => {
  const folders = ['first', 'second'].map((name) => join(home.folder, name));
  for (const folder of folders) mkdirSync(folder);
  const [first = '', second = ''] = folders.map((folder) => realpathSync(folder));
  const asked = await home.play('run', 'Hi', '--dir', home.project, '--add-dir', first);
  expect(asked).toMatchObject({ exitCode: 0, stdout: 'One.\n' });
  const [, sessionId = ''] = /^Session (.+)$/m.exec(asked.stderr) ?? [];
  expect(JSON.stringify(api.requests[0])).toContain(
    `Additional working directories:\\n  - ${first}`,
  );
  expect(await home.play('aside', sessionId, 'Which?')).toEqual({
    exitCode: 0,
    stdout: 'Aside.\n',
    stderr: '',
  });
  const { stdout } = await home.play('setup', sessionId);
  expect(stdout).toContain(`Additional folder: ${first}\n`);
  expect(stdout).toContain('Account: API key (ANTHROPIC_API_KEY)\n');
  expect(stdout).toMatch(/^hooks: none$/m);
  const directories = async (...args: string[]) => home.play('directories', sessionId, ...args);
  expect(await directories()).toEqual({ exitCode: 0, stdout: `${first}\n`, stderr: '' });
  const changed = await directories('--add', second, '--remove', first);
  expect(changed).toEqual({ exitCode: 0, stdout: `${second}\n`, stderr: '' });
  expect(await directories('--add', join(home.folder, 'missing'))).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no folder') as string,
  });
});
