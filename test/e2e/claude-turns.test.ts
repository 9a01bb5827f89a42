import { testAtLength } from '@liminal/testkit/at-length';
import { basename, join } from 'node:path';
import type { ServerMessage } from '@liminal/protocol';
import {
  apiError,
  byPrompt,
  cut,
  gate,
  reply,
  text,
  thinking,
  times,
  toolUse,
  withSubagents,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { agentProcesses, untilNoProcess } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage();

test('TC-8.1a TC-7.2a TC-7.1a TC-8.1c an answer is shown while it is written, as upserts that only grow; stop ends the next answer in the middle of its text, and the session continues', async () => {
  const [second, third] = [gate(), gate()];
  stage.api.play(
    byPrompt({
      'Tell me something.': [
        reply(text(['The first', second, ' and the second', third, ' and the third.'])),
      ],
      'Go on for ever.': [reply(text(['I have begun', gate(), ' and ended.']))],
      'Still there?': [reply('Still here.')],
    }),
  );
  const { ada, session } = await stage.claude();

  await session.send('Tell me something.');
  await session.untilAnswer(/^The first$/);
  const place = await session.answers.getAttribute('data-item-id');
  second.open();
  await session.untilAnswer(/^The first and the second$/);
  expect(await session.stopButton.isVisible()).toBe(true);
  third.open();
  const whole = 'The first and the second and the third.';
  await session.untilAnswer(new RegExp(`^${whole}$`));
  await session.untilEnded(1);

  // The answer has grown in the same message: from its first word to its last, there is only one message.
  expect(await session.answers.count()).toBe(1);
  expect(await session.answers.getAttribute('data-item-id')).toBe(place);
  expect(await session.prompts.innerText()).toBe('Tell me something.');
  await session.stopButton.waitFor({ state: 'detached' });
  const states = messageStates(ada.received);
  expect(states.map(({ content }) => content)).toContain('The first');
  expect(states.at(-1)).toEqual({ status: 'complete', content: whole });
  for (const [index, { content }] of states.entries()) {
    expect(content.startsWith(states[index - 1]?.content ?? '')).toBe(true);
  }

  await session.send('Go on for ever.');
  await session.untilAnswer(/^I have begun$/);
  await session.stopButton.click();
  await session.untilEnded(2);
  await session.lastTurn.getByText(/^Stopped/).waitFor();
  expect(await session.answers.allTextContents()).toEqual([whole, 'I have begun']);
  await session.send('Still there?');
  await session.untilAnswer('Still here.');
  await session.untilEnded(3);
});

/** Returns the states of the agent's only message, after each WebSocket message about it. */
function messageStates(received: readonly ServerMessage[]): { status: string; content: string }[] {
  const states: { status: string; content: string }[] = [];
  for (const message of received) {
    if (message.type === 'session:append') {
      const held = states.at(-1)?.content ?? '';
      states.push({ status: 'update', content: held.slice(0, message.at) + message.text });
    } else if (message.type === 'session:upsert' && message.payload.type === 'message') {
      const { origin, status, content } = message.payload;
      if (origin === 'agent') states.push({ status, content });
    }
  }
  return states;
}

testAtLength('the model’s thinking is folded, and a user can unfold it', async () => {
  const folder = await stage.project('thinking');
  stage.api.play([reply([thinking('They greet me, so I greet them.'), text('Hello.')])]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Hello?');
  await session.untilEnded(1);

  const thought = session.conversation.getByText('They greet me');
  const fold = session.conversation.getByRole('button', { name: /^Thought/ });
  expect(await fold.getAttribute('aria-expanded')).toBe('false');
  expect(await thought.count()).toBe(0);
  await fold.click();
  await thought.waitFor();
});

test('TC-8.1b TC-7.1c TC-7.2b TC-7.2c TC-8.1c each tool has its own card, which shows the invocation while the tool runs, and then the result; Escape stops a command with all its processes; an edit shows what changed', async () => {
  const { ada, session, folder, turns } = await stage.claude();
  const name = basename(folder);
  await stage.project(name, { 'greet.txt': 'hello\nworld\n' });
  const file = join(folder, 'greet.txt');
  const waitFor = (what: string) => `until [ -e ${what} ]; do sleep 0.1; done; echo ${what} came`;
  stage.api.play([
    reply(toolUse('Bash', { command: waitFor('go') })),
    reply('It went.'),
    reply([
      text('All at once.'),
      toolUse('Bash', { command: waitFor('left') }),
      toolUse('Bash', { command: waitFor('right') }),
    ]),
    reply('Both came.'),
    reply(toolUse('Bash', { command: 'until [ -e never ]; do sleep 0.2; done' })),
    reply('Done with it.'),
    reply(toolUse('Read', { file_path: file })),
    reply(toolUse('Edit', { file_path: file, old_string: 'world', new_string: 'there' })),
    reply('Changed.'),
  ]);
  await session.send('Wait for it.');
  const card = session.tool(/^Run until \[ -e go/);
  await card.getByRole('img', { name: 'running' }).waitFor();
  expect(await card.getByText('go came', { exact: true }).count()).toBe(0);
  await stage.project(name, { go: '' });
  await card.getByRole('img', { name: 'done' }).waitFor();
  await session.untilEnded(turns + 1);
  await session.unfold(card);
  await card.getByText('go came', { exact: true }).waitFor();
  await session.untilAnswer('It went.');

  const calls = ada.received.flatMap((message) =>
    message.type === 'session:upsert' && message.payload.type === 'tool_call'
      ? [message.payload]
      : [],
  );
  const ofStatus = (status: string) => calls.filter((call) => call.status === status);
  expect(calls[0]).toMatchObject({ status: 'create', toolName: 'Bash' });
  expect(calls.at(-1)).toMatchObject({ status: 'complete', toolOutput: 'go came' });
  expect([ofStatus('create').length, ofStatus('complete').length]).toEqual([1, 1]);
  expect(new Set(calls.map(({ itemId }) => itemId)).size).toBe(1);

  await session.send('Start both.');
  const left = session.tool(/^Run until \[ -e left/);
  const right = session.tool(/^Run until \[ -e right/);
  await left.getByRole('img', { name: 'running' }).waitFor();
  await right.getByRole('img', { name: 'running' }).waitFor();
  await stage.project(name, { right: '' });
  await right.getByRole('img', { name: 'done' }).waitFor();
  expect(await left.getByRole('img', { name: 'running' }).isVisible()).toBe(true);
  expect(await session.lastTurn.getByRole('article', { name: 'Agent' }).innerText()).toBe(
    'All at once.',
  );
  await stage.project(name, { left: '' });
  await left.getByRole('img', { name: 'done' }).waitFor();
  await session.untilAnswer('Both came.');
  await session.untilEnded(turns + 2);

  await session.send('Follow.');
  await session
    .tool(/^Run until \[ -e never/)
    .getByRole('img', { name: 'running' })
    .waitFor();
  await expect.poll(() => commandsIn(folder)).toContainEqual(expect.stringContaining('never'));
  await session.composer.press('Escape');
  await session.untilEnded(turns + 3);
  await session.lastTurn.getByText(/^Stopped/).waitFor();
  await expect.poll(() => commandsIn(folder)).not.toContainEqual(expect.stringContaining('never'));
  await session.send('And now?');
  await session.untilAnswer('Done with it.');
  await session.untilEnded(turns + 4);

  await session.send('Change it.');
  await session.allow();
  await session.untilAnswer('Changed.');
  await session.tool('Read greet.txt').getByRole('img', { name: 'done' }).waitFor();
  const edit = session.tool('Edit greet.txt');
  await edit.getByLabel('1 lines added').waitFor();
  await session.unfold(edit);
  const lines = await edit.getByRole('row').allInnerTexts();
  expect(lines.map((line) => line.replace(/\s/g, ''))).toEqual(['1hello', '2−world', '2+there']);
});

testAtLength('if a tool fails, its failure is shown without a click', async () => {
  const folder = await stage.project('failing');
  stage.api.play([
    reply(toolUse('Read', { file_path: join(folder, 'missing.txt') })),
    reply('It is not there.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Read it.');
  await session.untilAnswer('It is not there.');
  await session
    .tool('Read missing.txt')
    .getByText(/does not exist/)
    .waitFor();
});

testAtLength('a subagent’s actions are nested below the call that started it', async () => {
  const folder = await stage.project('delegate', { 'notes.txt': 'one\ntwo\n' });
  const inspect = {
    description: 'Inspect the notes',
    prompt: 'Inspect notes.txt',
    subagent_type: 'general-purpose',
    run_in_background: false,
  };
  const report = gate();
  stage.api.play(
    withSubagents([reply(toolUse('Agent', inspect)), reply('It says two lines.')], {
      'Inspect notes.txt': [
        reply([text('Looking.'), toolUse('Read', { file_path: join(folder, 'notes.txt') })]),
        reply(text([report, 'Two lines.'])),
      ],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Delegate it.');

  const agent = session.tool(/Inspect the notes/);
  await agent.getByRole('group', { name: 'Read notes.txt' }).waitFor();
  await agent.getByRole('article', { name: 'Agent' }).filter({ hasText: 'Looking.' }).waitFor();
  report.open();
  await session.untilAnswer('It says two lines.');
  await session.untilEnded(1);
  // The session's own messages are not listed among the subagent's messages.
  expect(await agent.getByText('It says two lines.').count()).toBe(0);
});

testAtLength(
  'if the model’s API returns an error, the error is shown in plain words, and the session continues after it',
  async () => {
    const folder = await stage.project('api-error');
    stage.api.play(({ prompt }) =>
      prompt.includes('Less.') ? reply('Better now.') : apiError(400, 'The stars are not right.'),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Too much.');
    await session.failureOf('last').filter({ hasText: 'The stars are not right.' }).waitFor();
    await session.untilEnded(1);
    expect(await session.lastTurn.getAttribute('data-status')).toBe('error');

    await session.send('Less.');
    await session.untilAnswer('Better now.');
    await session.untilEnded(2);
  },
);

testAtLength('if the API rejects the key, this is shown as the reason', async () => {
  const folder = await stage.project('bad-key');
  stage.api.play(() => apiError(401, 'invalid x-api-key'));
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Hello?');
  await session.untilEnded(1);
  expect(await session.failureOf('last').innerText()).toMatch(/API key/);
});

testAtLength(
  'if the connection to the model breaks during an answer, no partial answer is left',
  async () => {
    const folder = await stage.project('cut');
    stage.api.play([reply(text(['Half of a wrong ans', cut])), ...times(3, reply('All of it.'))]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Go.');
    await session.untilAnswer('All of it.');
    await session.untilEnded(1);
    expect(await session.answers.allTextContents()).toEqual(['All of it.']);
  },
);

testAtLength(
  'the text of an agent is shown, but the text can neither run code nor fetch anything',
  async () => {
    const folder = await stage.project('nasty');
    const words = [
      'Raw <img src="x" onerror="alert(1)"> and <script>alert(2)</script>.',
      '![picture](https://example.com/x.png) [go](javascript:alert(3)) [site](https://example.com)',
      '```html\n<script>alert(4)</script>\n```',
    ];
    stage.api.play([reply(words.join('\n\n'))]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('<img src=x onerror=alert(5)>');
    await session.untilEnded(1);

    const answer = session.answers.first();
    await answer.getByText('<script>alert(2)</script>').waitFor();
    await answer.getByRole('figure').getByText('alert(4)').waitFor();
    expect(await session.prompts.innerText()).toBe('<img src=x onerror=alert(5)>');
    expect(await answer.locator('img, script, iframe').count()).toBe(0);
    await answer.getByText('go', { exact: true }).click();
    const targets = await answer
      .getByRole('link')
      .evaluateAll((links) =>
        links.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]),
      );
    expect(targets).toContainEqual(['https://example.com', expect.stringContaining('noopener')]);
    expect(targets.flat().join()).not.toContain('javascript');
  },
);

testAtLength(
  'INV-8 if a user ends a session’s process, all processes of the session end, and the next message starts the agent again',
  async () => {
    const folder = await stage.project('kill');
    const detached = 'setsid -f sh -c "exec sleep 987" >/dev/null 2>&1; echo left one behind';
    stage.api.play(
      byPrompt({
        'Leave one.': [reply(toolUse('Bash', { command: detached })), reply('I left one.')],
        'Again.': [reply('Again here.')],
      }),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Leave one.');
    await session.allow();
    await session.untilAnswer('I left one.');
    await session.untilEnded(1);
    await expect.poll(() => commandsIn(folder)).toContainEqual('sleep 987');
    await ada.endProcess();
    await untilNoProcess(stage.server.pid, { folder });

    await session.send('Again.');
    await session.untilAnswer('Again here.');
    await session.untilEnded(2);
    expect(await session.prompts.allTextContents()).toEqual(['Leave one.', 'Again.']);
  },
);

async function commandsIn(folder: string): Promise<string[]> {
  const processes = await agentProcesses(stage.server.pid);
  return processes.filter((entry) => entry.folder === folder).map((entry) => entry.command);
}

testAtLength(
  'messages written during a turn wait in the queue, where they can be edited and removed, and are sent in order',
  async () => {
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
    await session.untilAnswer('Working on it');
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

    await session.untilAnswer('Fourth done.');
    await session.untilEnded(3);
    await session.queue.waitFor({ state: 'detached' });
    expect(await session.prompts.allTextContents()).toEqual([
      'First.',
      'Second, better.',
      'Fourth.',
    ]);
    expect(await session.answers.allTextContents()).toEqual([
      'Working on it.',
      'Second done.',
      'Fourth done.',
    ]);
    const asked = stage.api.requests.filter(({ kind }) => kind === 'main').map((one) => one.prompt);
    expect(asked.slice(-3)).toEqual(['First.', 'Second, better.', 'Fourth.']);
  },
);

testAtLength(
  'if the process of an agent dies during a turn, the page shows this, and the next message starts the agent again',
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
    await session.untilAnswer(/^It begins$/);
    for (const { pid, folder: where } of await agentProcesses(stage.server.pid)) {
      if (where === folder) process.kill(pid, 'SIGKILL');
    }
    await session.untilEnded(1);
    const trouble = session.failureOf('last');
    expect(await trouble.innerText()).toContain('PROCESS_CRASH');
    expect(await session.answers.allTextContents()).toEqual(['It begins']);

    await session.send('Once more.');
    await session.untilAnswer('It is back.');
    await session.untilEnded(2);
  },
);

testAtLength(
  'if a message is too big for the server, it is kept with the reason, and can be discarded',
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
