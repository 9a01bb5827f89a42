import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answer, byModelPrompt, execCommand, message, reply, toolUse } from '@liminal/testkit';
import { testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import type { SessionTab } from './session-tab.ts';
import { untilNoProcess } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage({ codex: { approvalPolicy: 'on-request', sandbox: 'read-only' } });

/** Opens a session in a project. In its turn, a file is written, and Claude Code asks permission for this. */
async function writingProject(name: string) {
  const folder = await stage.project(name);
  const file = join(folder, 'new.txt');
  stage.api.play([
    reply(toolUse('Write', { file_path: file, content: 'fresh\n' })),
    reply('That is settled.'),
  ]);
  return { folder, file };
}

/** Returns a question that Claude Code asks in a form. */
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

test('a user allows a permission request with a button below the proposed change, and rejects the next request with Escape in the empty message field; several questions are asked in one form', async () => {
  const { ada, session, folder, turns } = await stage.claude();
  const file = join(folder, 'new.txt');
  stage.api.play([
    reply(toolUse('Write', { file_path: file, content: 'fresh\n' })),
    reply('That is settled.'),
    reply(toolUse('Write', { file_path: join(folder, 'other.txt'), content: 'fresh\n' })),
    reply('Then not.'),
    reply(toolUse('AskUserQuestion', { questions }, { id: 'toolu_question' })),
    reply('So be it.'),
  ]);
  await session.send('Write it.');
  const request = session.permission('Permission: Write new.txt');
  await request.waitFor();
  await request.getByText('fresh', { exact: true }).waitFor();
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).getByText('Write it.').waitFor();
  await expect.poll(() => ada.page.title()).toContain('◆');

  await session.allow();
  await session.untilAnswer('That is settled.');
  await session.untilEnded(turns + 1);
  expect(await readFile(file, 'utf8')).toBe('fresh\n');
  expect(await request.count()).toBe(0);
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).waitFor({ state: 'detached' });

  await session.send('And another.');
  const another = session.permission('Permission: Write other.txt');
  await another.waitFor();
  // Press the key repeatedly: just after a request appears, the page ignores keys, because they may have been meant for
  // something other than the request.
  await expect
    .poll(async () => {
      await session.composer.press('Escape');
      return another.isVisible();
    })
    .toBe(false);
  await session.untilAnswer('Then not.');
  await session.untilEnded(turns + 2);
  await expect(readFile(join(folder, 'other.txt'))).rejects.toThrow('ENOENT');

  await session.send('Ask me.');
  const form = session.permission(/^Question: 3 questions/);
  await form.getByRole('radio', { name: 'PostgreSQL' }).check();
  await form.getByRole('checkbox', { name: 'Here', exact: false }).first().check();
  await form.getByRole('checkbox', { name: 'There', exact: false }).first().check();
  await form.getByRole('textbox', { name: 'Something else: And when?' }).fill('At noon');
  expect(
    await session
      .tool(/^Question/)
      .getByText('multiSelect')
      .count(),
  ).toBe(0);
  await session.scrollRequest();
  await form.getByRole('button', { name: 'Answer' }).click();
  await session.untilAnswer('So be it.');
  const { toolResults } = await stage.api.request((one) => 'toolu_question' in one.toolResults);
  expect(toolResults['toolu_question']).toMatch(/="PostgreSQL".*="Here, There".*="At noon"/s);
});

testAtLength('if a user rejects a permission request with a button, nothing is done', async () => {
  const { folder, file } = await writingProject('reject-button');
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Write it.');
  await session
    .permission('Permission: Write new.txt')
    .getByRole('button', { name: 'Reject', exact: true })
    .click();
  await session.untilAnswer('That is settled.');
  await session.untilEnded(1);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await session.tool('Edit new.txt').getByText('Rejected').waitFor();
});

testAtLength.each([
  { key: 'Enter', outcome: 'allows', exists: true },
  { key: 'Escape', outcome: 'rejects', exists: false },
])(
  'with $key in the empty message field, a user $outcome a permission request',
  async ({ key, exists }) => {
    const { folder, file } = await writingProject(`answer-${key}`);
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Write it.');
    const request = session.permission('Permission: Write new.txt');
    await request.waitFor();
    // Press the key repeatedly: just after a request appears, the page ignores keys, because they may have been meant for
    // something other than the request.
    await expect
      .poll(async () => {
        await session.composer.press(key);
        return request.isVisible();
      })
      .toBe(false);
    await session.untilAnswer('That is settled.');
    await session.untilEnded(1);
    const content = await readFile(file, 'utf8').catch(() => undefined);
    expect(content).toBe(exists ? 'fresh\n' : undefined);
  },
);

testAtLength(
  'a plan is shown as text before a user accepts it, and is carried out after that',
  async () => {
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
    await card.getByRole('button', { name: 'Approve, ask before edits' }).click();
    await session.untilAnswer('Done as planned.');
    const mode = ada.page.getByRole('combobox', { name: 'Permissions' });
    await mode.getByText('Ask first').waitFor();

    // The mode that the accepted plan sets must also apply to the agent's next process.
    await ada.endProcess();
    await untilNoProcess(stage.server.pid, { folder });
    stage.api.play([reply('I am back.')]);
    await session.send('Go on.');
    await session.untilAnswer('I am back.');
    expect(await mode.innerText()).toBe('Ask first');
  },
);

/** The agents. The model of each agent first requests a permission, and answers after the permission is given. */
const agents = [
  {
    agent: 'Claude Code',
    play: (folder: string, ...answers: string[]) => {
      const write = toolUse('Write', { file_path: join(folder, 'new.txt'), content: 'fresh\n' });
      stage.api.play([reply(write), ...answers.map((said) => reply(said))]);
    },
    /** The model's requests, in order. */
    asked: () =>
      stage.api.requests
        .filter(({ kind }) => kind === 'main')
        .map(({ body }) => JSON.stringify(body.messages)),
  },
  {
    agent: 'Codex',
    play: (_: string, ...answers: string[]) => {
      const make = execCommand('echo fresh > new.txt', { escalate: 'It must be made.' });
      stage.codexApi.play([answer(make), ...answers.map((said) => answer(said))]);
    },
    asked: () => stage.codexApi.requests.map(({ body }) => JSON.stringify(body.input)),
  },
];

/** Returns the user's messages in the order in which they are shown, each with its delivery state. */
const shown = (session: SessionTab) => session.prompts.allTextContents();

/** Opens a session that has this number of turns. */
async function begin(agent: string) {
  if (agent === 'Claude Code') return stage.claude();
  const ada = await stage.person();
  const folder = await stage.project(`of ${agent}`);
  return { ada, session: await ada.startSession({ folder, agent }), folder, turns: 0 };
}

testAtLength.each(agents)(
  'a message steered to $agent reaches the model in the same turn, and is shown once in that turn, also to other clients and after a reload',
  async ({ agent, play, asked }) => {
    const { ada, session, folder, turns } = await begin(agent);
    play(folder, 'With that in mind.', 'And the rest.');
    await session.send('Make it.');
    await session.permission(/^Permission: /).waitFor();
    const before = asked().length;
    await session.send('Afterwards.');

    await session.composer.fill('Call it otherwise.');
    await session.composer.press('Control+Enter');
    await session.lastTurn.getByText('Sent, not read yet').waitFor();
    const bob = await stage.person();
    await bob.page.goto(ada.page.url());
    const his = await bob.session();
    await his.lastTurn.getByText('Sent, not read yet').waitFor();
    await session.allow();
    await session.untilAnswer('With that in mind.');
    await session.untilEnded(turns + 2);

    expect(asked()[before]).toContain('Call it otherwise.');
    expect(asked()[before]).not.toContain('Afterwards.');
    for (const tab of [session, his]) {
      await tab.untilEnded(turns + 2);
      await tab.turns.nth(turns).getByText('Steered').waitFor();
      expect((await shown(tab)).slice(-3)).toEqual([
        'Make it.',
        'Call it otherwise.',
        'Afterwards.',
      ]);
    }
    await ada.page.reload();
    await session.untilEnded(turns + 2);
    await session.turns.nth(turns).getByText('Steered').waitFor();
    expect((await shown(session)).slice(-3)).toEqual([
      'Make it.',
      'Call it otherwise.',
      'Afterwards.',
    ]);
  },
);

test('Codex asks for permission twice: the first command is allowed and runs, while a queued message is steered; the second command is rejected, with a reason for the model', async () => {
  const folder = await stage.project('leave');
  stage.codexApi.play([
    answer([
      message('I would make it.'),
      execCommand('echo fresh > new.txt', { escalate: 'It must be made.' }),
    ]),
    answer('It is made.'),
    answer(execCommand('echo more >> new.txt', { escalate: 'It must be longer.' })),
    answer('Then otherwise.'),
  ]);
  const { asked } = agents[1]!;
  const ada = await stage.person();
  const session = await ada.startSession({ folder, agent: 'Codex' });
  await session.send('Make it.');
  const request = session.permission(/^Permission: .*echo fresh > new\.txt/);
  await request.waitFor();
  await ada.sidebar.getByRole('region', { name: 'Needs you' }).getByText('Make it.').waitFor();
  const before = asked().length;
  await session.send('First.');
  await session.send('Second.');
  const second = session.queue.getByRole('listitem').filter({ hasText: 'Second.' });
  await second.getByRole('button', { name: 'Send now' }).click();
  await second.waitFor({ state: 'detached' });
  await request.getByRole('button', { name: 'Allow', exact: true }).click();
  await session.untilAnswer('It is made.');
  expect(await request.count()).toBe(0);
  expect(await readFile(join(folder, 'new.txt'), 'utf8')).toBe('fresh\n');
  await session
    .tool(/echo fresh/)
    .getByRole('img', { name: 'done' })
    .waitFor();
  expect(asked()[before]).toContain('Second.');
  expect(asked()[before]).not.toContain('First.');

  // The message that stayed in the queue begins the next turn, in which Codex asks again.
  const next = session.permission(/^Permission: .*echo more >> new\.txt/);
  await next.waitFor();
  expect(await shown(session)).toEqual(['Make it.', 'Second.', 'First.']);
  const requests = asked().length;
  await session.composer.fill('Not in this folder.');
  await next.getByRole('button', { name: 'Reject with this note' }).click();
  await session.untilAnswer('Then otherwise.');
  await session.untilEnded(2);
  expect(asked()[requests]).toContain('The user refused this, and says: Not in this folder.');
  expect(await shown(session)).toEqual(['Make it.', 'Second.', 'First.']);
  const noted = session.conversation.getByText('“Not in this folder.”');
  const refused = session.lastTurn.getByRole('group', { name: /new\.txt/ });
  if (!(await noted.isVisible())) await session.unfold(refused.first());
  await noted.waitFor();
  expect(await session.conversation.getByText(/Not in this folder/).count()).toBe(1);
  expect(await readFile(join(folder, 'new.txt'), 'utf8')).toBe('fresh\n');
});

testAtLength.each(agents)(
  'a queued message for $agent can be sent at once, and the other messages stay in the queue',
  async ({ agent, play, asked }) => {
    const folder = await stage.project(`now ${agent}`);
    play(folder, 'With that in mind.', 'And the rest.');
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent });
    await session.send('Make it.');
    await session.permission(/^Permission: /).waitFor();
    const before = asked().length;
    await session.send('First.');
    await session.send('Second.');
    const second = session.queue.getByRole('listitem').filter({ hasText: 'Second.' });

    await second.getByRole('button', { name: 'Send now' }).click();
    await second.waitFor({ state: 'detached' });
    await session.allow();
    await session.untilEnded(2);

    expect(asked()[before]).toContain('Second.');
    expect(asked()[before]).not.toContain('First.');
    expect(await shown(session)).toEqual(['Make it.', 'Second.', 'First.']);
  },
);

testAtLength.each(agents)(
  'the reason of a rejection reaches the model of $agent, and is shown with the permission request',
  async ({ agent, play, asked }) => {
    const folder = await stage.project(`reason ${agent}`);
    play(folder, 'Then otherwise.');
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent });
    await session.send('Make it.');
    const request = session.permission(/^Permission: /);
    await request.waitFor();
    const before = asked().length;
    await session.composer.fill('Not in this folder.');

    await request.getByRole('button', { name: 'Reject with this note' }).click();
    await session.untilAnswer('Then otherwise.');
    await session.untilEnded(1);

    expect(asked()[before]).toContain('The user refused this, and says: Not in this folder.');
    expect(await shown(session)).toEqual(['Make it.']);
    const noted = session.conversation.getByText('“Not in this folder.”');
    if (!(await noted.isVisible())) await session.unfold(session.tool(/new\.txt/).first());
    await noted.waitFor();
    expect(await session.conversation.getByText(/Not in this folder/).count()).toBe(1);
  },
);

/** Opens a session in a project. In its turn, a file is made, and Codex asks permission for this. */
async function makingProject(name: string) {
  const folder = await stage.project(name);
  stage.codexApi.play(
    byModelPrompt({
      'Make it.': [
        answer([
          message('I would make it.'),
          execCommand('echo fresh > new.txt', { escalate: 'It must be made.' }),
        ]),
        answer('It is made.'),
      ],
      'And now?': [answer('On we go.')],
    }),
  );
  return { folder, file: join(folder, 'new.txt') };
}

const request = /^Permission: .*echo fresh > new\.txt/;

testAtLength(
  'if a user rejects a command for which Codex asks, the command does not run, and the session continues',
  async () => {
    const { folder, file } = await makingProject('refuse');
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Make it.');
    await session.permission(request).getByRole('button', { name: 'Reject', exact: true }).click();
    // Codex reports the rejection to its model. It shows no command, because none has run.
    await session.untilAnswer('It is made.');
    await session.untilEnded(1);
    await expect(readFile(file)).rejects.toThrow('ENOENT');

    await session.send('And now?');
    await session.untilAnswer('On we go.');
    await session.untilEnded(2);
    expect(await session.answers.allTextContents()).toEqual([
      'I would make it.',
      'It is made.',
      'On we go.',
    ]);
  },
);
