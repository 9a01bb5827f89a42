import { testAtLength } from '@liminal/testkit/at-length';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { untilNoProcess } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage();

/** A turn that writes a file, which Claude Code asks permission for. */
async function writingProject(name: string) {
  const folder = await stage.project(name);
  const file = join(folder, 'new.txt');
  stage.api.play([
    reply(toolUse('Write', { file_path: file, content: 'fresh\n' })),
    reply('That is settled.'),
  ]);
  return { folder, file };
}

test('a permission is given by a button, after a look at what would change', async () => {
  const { folder, file } = await writingProject('allow-button');
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Write it.');
  const request = session.permission('Permission: Write new.txt');
  await request.waitFor();
  await request.getByText('fresh', { exact: true }).waitFor();
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).getByText('Write it.').waitFor();
  expect(await ada.page.title()).toContain('◆');

  await session.allow();
  await session.untilSaid('That is settled.');
  await session.untilEnded(1);
  expect(await readFile(file, 'utf8')).toBe('fresh\n');
  expect(await request.count()).toBe(0);
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).waitFor({ state: 'detached' });
});

testAtLength('a permission is refused by a button, and nothing is done', async () => {
  const { folder, file } = await writingProject('reject-button');
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Write it.');
  await session
    .permission('Permission: Write new.txt')
    .getByRole('button', { name: 'Reject', exact: true })
    .click();
  await session.untilSaid('That is settled.');
  await session.untilEnded(1);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await session.tool('Edit new.txt').getByText('Not made: you rejected it').waitFor();
});

test.for([
  { key: 'Enter', outcome: 'gives', exists: true },
  { key: 'Escape', outcome: 'refuses', exists: false },
])('$key $outcome a permission, straight from the empty composer', async ({ key, exists }) => {
  const { folder, file } = await writingProject(`answer-${key}`);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Write it.');
  const request = session.permission('Permission: Write new.txt');
  await request.waitFor();
  // Keys in the first moment are not taken: they were meant for something else.
  await expect
    .poll(async () => {
      await session.composer.press(key);
      return request.isVisible();
    })
    .toBe(false);
  await session.untilSaid('That is settled.');
  await session.untilEnded(1);
  const content = await readFile(file, 'utf8').catch(() => undefined);
  expect(content).toBe(exists ? 'fresh\n' : undefined);
});

test('a mode that is chosen holds: with edits accepted nothing is asked', async () => {
  const { folder, file } = await writingProject('accept-edits');
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.choose('Permissions', 'Accept edits');
  await session.send('Write it.');
  await session.untilSaid('That is settled.');
  expect(await readFile(file, 'utf8')).toBe('fresh\n');
});

test('questions are asked as such, all at once, and the agent gets the answers', async () => {
  const folder = await stage.project('question');
  const ask = (question: string, multiSelect: boolean, ...labels: string[]) => ({
    question,
    header: 'Choice',
    multiSelect,
    options: labels.map((label) => ({ label, description: `This is ${label}.` })),
  });
  const questions = [
    ask('Which database should it use?', false, 'SQLite', 'PostgreSQL'),
    ask('Where should it run?', true, 'Here', 'There', 'Nowhere'),
    ask('And when?', false, 'Now', 'Later'),
  ];
  stage.api.play([
    reply(toolUse('AskUserQuestion', { questions }, { id: 'toolu_question' })),
    reply('So be it.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Ask me.');
  const request = session.permission(/^Question: 3 questions/);
  await request.getByRole('radio', { name: 'PostgreSQL' }).check();
  await request.getByRole('checkbox', { name: 'Here', exact: false }).first().check();
  await request.getByRole('checkbox', { name: 'There', exact: false }).first().check();
  await request.getByRole('textbox', { name: 'Something else: And when?' }).fill('At noon');
  expect(
    await session
      .tool(/^Ask you/)
      .getByText('multiSelect')
      .count(),
  ).toBe(0);
  await request.getByRole('button', { name: 'Send answers' }).click();
  await session.untilSaid('So be it.');
  const { toolResults } = await stage.api.request((one) => 'toolu_question' in one.toolResults);
  expect(toolResults['toolu_question']).toMatch(/="PostgreSQL".*="Here, There".*="At noon"/s);
});

testAtLength('a plan is read as text before it is agreed to, and then carried out', async () => {
  const folder = await stage.project('plan');
  stage.api.play([
    reply(toolUse('ExitPlanMode', { plan: '# The plan\n\n1. Write it.\n2. Test it.' })),
    reply('Done as planned.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.choose('Permissions', 'Plan');
  await session.send('Plan it.');
  const card = session.permission(/^Permission: /);
  await card.getByRole('heading', { name: 'The plan' }).waitFor();
  expect(await card.getByRole('listitem').allInnerTexts()).toEqual(['Write it.', 'Test it.']);
  await card.getByRole('button', { name: 'Start, and ask before each edit' }).click();
  await session.untilSaid('Done as planned.');
  const mode = ada.page.getByRole('combobox', { name: 'Permissions' });
  await mode.getByText('Ask first').waitFor();

  // The agreement holds for the agent's next process, too.
  await ada.endProcess();
  await untilNoProcess(stage.server.pid, { folder });
  stage.api.play([reply('I am back.')]);
  await session.send('Go on.');
  await session.untilSaid('I am back.');
  expect(await mode.innerText()).toBe('Ask first');
});
