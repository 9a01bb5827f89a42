import { testAtLength } from '@liminal/testkit/at-length';
import { byPrompt, gate, reply, text, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { agentProcesses, untilNoProcess } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage();

test('TC-8.1c stop ends the turn in mid-text, keeps what was said, and the session takes the next message', async () => {
  const folder = await stage.project('cancel');
  const never = gate();
  stage.api.play(
    byPrompt({
      'Go on for ever.': [reply(text(['I have begun', never, ' and ended.']))],
      'Still there?': [reply('Still here.')],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Go on for ever.');
  await session.untilSaid(/^I have begun$/);
  await session.stopButton.click();
  await session.untilEnded(1);
  await session.lastTurn.getByText(/^Stopped/).waitFor();
  expect(await session.answers.allInnerTexts()).toEqual(['I have begun']);

  await session.send('Still there?');
  await session.untilSaid('Still here.');
  await session.untilEnded(2);
});

test('TC-8.1c Escape stops a running command, and nothing of it runs on', async () => {
  const folder = await stage.project('cancel-tool');
  stage.api.play(
    byPrompt({
      'Follow.': [reply(toolUse('Bash', { command: 'until [ -e never ]; do sleep 0.2; done' }))],
      'And now?': [reply('Done with it.')],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Follow.');
  const card = session.tool(/^Run until/);
  await card.getByRole('img', { name: 'running' }).waitFor();
  await expect.poll(() => commandsIn(folder)).toContainEqual(expect.stringContaining('never'));
  await session.composer.press('Escape');
  await session.untilEnded(1);
  await session.lastTurn.getByText(/^Stopped/).waitFor();
  await expect.poll(() => commandsIn(folder)).not.toContainEqual(expect.stringContaining('never'));

  await session.send('And now?');
  await session.untilSaid('Done with it.');
});

async function commandsIn(folder: string): Promise<string[]> {
  const processes = await agentProcesses(stage.server.pid);
  return processes.filter((entry) => entry.folder === folder).map((entry) => entry.command);
}

test('messages written during a turn wait, can be changed and taken back, and go out in their order', async () => {
  const folder = await stage.project('queue');
  const first = gate();
  stage.api.play(
    byPrompt({
      'First.': [reply(text(['Working on it', first, '.']))],
      'Second, better.': [reply('Second done.')],
      'Fourth.': [reply('Fourth done.')],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('First.');
  await session.untilSaid('Working on it');
  for (const message of ['Second.', 'Third.', 'Fourth.']) await session.send(message);
  const waiting = session.queue.getByRole('listitem');
  await waiting.nth(2).waitFor();

  const second = waiting.filter({ hasText: 'Second.' });
  await second.getByRole('button', { name: 'Edit queued message' }).click();
  const editor = session.queue.getByRole('textbox', { name: 'Queued message' });
  await editor.fill('Second, better.');
  await editor.press('Enter');
  await waiting.filter({ hasText: 'Second, better.' }).waitFor();
  await waiting
    .filter({ hasText: 'Third.' })
    .getByRole('button', { name: 'Remove queued message' })
    .click();
  await waiting.filter({ hasText: 'Third.' }).waitFor({ state: 'detached' });
  first.open();

  await session.untilSaid('Fourth done.');
  await session.untilEnded(3);
  await session.queue.waitFor({ state: 'detached' });
  expect(await session.prompts.allInnerTexts()).toEqual(['First.', 'Second, better.', 'Fourth.']);
  expect(await session.answers.allInnerTexts()).toEqual([
    'Working on it.',
    'Second done.',
    'Fourth done.',
  ]);
  const asked = stage.api.requests.filter(({ kind }) => kind === 'main').map((one) => one.prompt);
  expect(asked.slice(-3)).toEqual(['First.', 'Second, better.', 'Fourth.']);
});

testAtLength(
  'an agent whose process dies in mid-turn is said to, and the next message starts it again',
  async () => {
    const folder = await stage.project('dies');
    stage.api.play(
      byPrompt({
        'Begin.': [reply(text(['It begins', gate()]))],
        'Once more.': [reply('It is back.')],
      }),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Begin.');
    await session.untilSaid(/^It begins$/);
    for (const { pid, folder: where } of await agentProcesses(stage.server.pid)) {
      if (where === folder) process.kill(pid, 'SIGKILL');
    }
    await session.untilEnded(1);
    const trouble = session.failureOf('last');
    expect(await trouble.innerText()).toContain('PROCESS_CRASH');
    expect(await session.answers.allInnerTexts()).toEqual(['It begins']);

    await session.send('Once more.');
    await session.untilSaid('It is back.');
    await session.untilEnded(2);
  },
);

testAtLength(
  'a message too big for the server is kept, with the reason, and can be thrown away',
  async () => {
    const folder = await stage.project('too-big');
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    stage.expectComplaints(/status of 400/);
    await session.send('big '.repeat(600_000));
    const failure = session.conversation.getByRole('alert').filter({ hasText: 'Not sent' });
    expect(await failure.innerText()).toMatch(/large|big/);
    await failure.getByRole('button', { name: 'Delete' }).click();
    await failure.waitFor({ state: 'detached' });
  },
);

test('INV-8 ending a session ends its process and all that it started, and the next message starts it again', async () => {
  const folder = await stage.project('kill');
  const command = 'setsid -f sh -c "exec sleep 987" >/dev/null 2>&1; echo left one behind';
  stage.api.play(
    byPrompt({
      'Leave one.': [reply(toolUse('Bash', { command })), reply('I left one.')],
      'Again.': [reply('Again here.')],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Leave one.');
  await session.allow();
  await session.untilSaid('I left one.');
  await session.untilEnded(1);
  await expect.poll(() => commandsIn(folder)).toContainEqual('sleep 987');

  await ada.endProcess();
  await untilNoProcess(stage.server.pid, { folder });

  await session.send('Again.');
  await session.untilSaid('Again here.');
  await session.untilEnded(2);
  expect(await session.prompts.allInnerTexts()).toEqual(['Leave one.', 'Again.']);
});
