import { testAtLength } from '@liminal/testkit/at-length';
import { join } from 'node:path';
import type { ServerMessage } from '@liminal/protocol';
import {
  apiError,
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
import { useStage } from './stage.ts';

const stage = useStage();

test('TC-8.1a TC-7.2a a session is made, a message sent, and its answer is read while it is still being written', async () => {
  const folder = await stage.project('progressive');
  const [second, third] = [gate(), gate()];
  stage.api.play([reply(text(['The first', second, ' and the second', third, ' and the third.']))]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });

  await session.send('Tell me something.');
  await session.untilSaid(/^The first$/);
  const place = await session.answers.getAttribute('data-item-id');
  second.open();
  await session.untilSaid(/^The first and the second$/);
  expect(await session.stopButton.isVisible()).toBe(true);
  third.open();
  await session.untilSaid(/^The first and the second and the third\.$/);
  await session.untilEnded(1);

  // In place: one message from the first word to the last.
  expect(await session.answers.count()).toBe(1);
  expect(await session.answers.getAttribute('data-item-id')).toBe(place);
  expect(await session.prompts.innerText()).toBe('Tell me something.');
  await session.stopButton.waitFor({ state: 'detached' });
});

test('TC-7.1a the text comes over the WebSocket as upserts of type message whose content only grows', async () => {
  const folder = await stage.project('upserts');
  const rest = gate();
  const [head, tail] = ['One two three. ', 'Four five six.'];
  stage.api.play([reply(text([head, rest, tail]))]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Count.');
  await session.untilSaid('three.');
  rest.open();
  await session.untilEnded(1);

  const states = messageStates(ada.received);
  expect(states.map(({ content }) => content)).toContain(head);
  expect(states.at(-1)).toEqual({ status: 'complete', content: head + tail });
  for (const [index, { content }] of states.entries()) {
    expect(content.startsWith(states[index - 1]?.content ?? '')).toBe(true);
  }
});

/** What the agent's one message was after each thing that was received about it. */
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

testAtLength('thinking is folded away, and opens', async () => {
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

test('TC-8.1b TC-7.1c TC-7.2b a tool shows its invocation while it runs, then its result', async () => {
  const folder = await stage.project('tools');
  stage.api.play([
    reply(toolUse('Bash', { command: 'until [ -e go ]; do sleep 0.1; done; echo went' })),
    reply('It went.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Wait for it.');
  const card = session.tool(/^Run until/);
  await card.getByRole('img', { name: 'running' }).waitFor();
  expect(await card.getByText('went', { exact: true }).count()).toBe(0);
  await stage.project('tools', { go: '' });
  await card.getByRole('img', { name: 'done' }).waitFor();
  await session.untilEnded(1);
  await session.unfold(card);
  await card.getByText('went', { exact: true }).waitFor();
  await session.untilSaid('It went.');

  const calls = ada.received.flatMap((message) =>
    message.type === 'session:upsert' && message.payload.type === 'tool_call'
      ? [message.payload]
      : [],
  );
  const ofStatus = (status: string) => calls.filter((call) => call.status === status);
  expect(calls[0]).toMatchObject({ status: 'create', toolName: 'Bash' });
  expect(calls.at(-1)).toMatchObject({ status: 'complete', toolOutput: 'went' });
  expect([ofStatus('create').length, ofStatus('complete').length]).toEqual([1, 1]);
  expect(new Set(calls.map(({ itemId }) => itemId)).size).toBe(1);
});

test('TC-8.1b an edit shows its file and what changed in it', async () => {
  const folder = await stage.project('edits', { 'greet.txt': 'hello\nworld\n' });
  const file = join(folder, 'greet.txt');
  stage.api.play([
    reply(toolUse('Read', { file_path: file })),
    reply(toolUse('Edit', { file_path: file, old_string: 'world', new_string: 'there' })),
    reply('Changed.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Change it.');
  await session.allow();
  await session.untilSaid('Changed.');

  await session.tool('Read greet.txt').getByRole('img', { name: 'done' }).waitFor();
  const edit = session.tool('Edit greet.txt');
  await edit.getByLabel('1 lines added').waitFor();
  await session.unfold(edit);
  const lines = await edit.getByRole('row').allInnerTexts();
  expect(lines.map((line) => line.replace(/\s/g, ''))).toEqual(['hello', '−world', '+there']);
});

testAtLength('a tool that fails says so without a click', async () => {
  const folder = await stage.project('failing');
  stage.api.play([
    reply(toolUse('Read', { file_path: join(folder, 'missing.txt') })),
    reply('It is not there.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Read it.');
  await session.untilSaid('It is not there.');
  await session
    .tool('Read missing.txt')
    .getByText(/does not exist/)
    .waitFor();
});

test('TC-7.2c tools that run at the same time change one by one, each in its own card', async () => {
  const folder = await stage.project('parallel');
  const waitFor = (name: string) => `until [ -e ${name} ]; do sleep 0.1; done; echo ${name} came`;
  stage.api.play([
    reply([
      text('All at once.'),
      toolUse('Bash', { command: waitFor('left') }),
      toolUse('Bash', { command: waitFor('right') }),
    ]),
    reply('Both came.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Start both.');
  const left = session.tool(/^Run until \[ -e left/);
  const right = session.tool(/^Run until \[ -e right/);
  await left.getByRole('img', { name: 'running' }).waitFor();
  await right.getByRole('img', { name: 'running' }).waitFor();

  await stage.project('parallel', { right: '' });
  await right.getByRole('img', { name: 'done' }).waitFor();
  expect(await left.getByRole('img', { name: 'running' }).isVisible()).toBe(true);
  expect(await session.answers.innerText()).toBe('All at once.');
  await stage.project('parallel', { left: '' });
  await left.getByRole('img', { name: 'done' }).waitFor();
  await session.untilSaid('Both came.');
});

testAtLength('what a subagent does is nested below the call that started it', async () => {
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
  await session.untilSaid('It says two lines.');
  await session.untilEnded(1);
  // The session's own words are not among those of the subagent.
  expect(await agent.getByText('It says two lines.').count()).toBe(0);
});

testAtLength(
  'an error of the model’s API is said plainly, and the session goes on after it',
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
    await session.untilSaid('Better now.');
    await session.untilEnded(2);
  },
);

test('a key that the API does not take is said to be the trouble', async () => {
  const folder = await stage.project('bad-key');
  stage.api.play(() => apiError(401, 'invalid x-api-key'));
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Hello?');
  await session.untilEnded(1);
  expect(await session.failureOf('last').innerText()).toMatch(/API key/);
});

test('a connection to the model that breaks in mid-answer leaves no half of it behind', async () => {
  const folder = await stage.project('cut');
  stage.api.play([reply(text(['Half of a wrong ans', cut])), ...times(3, reply('All of it.'))]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Go.');
  await session.untilSaid('All of it.');
  await session.untilEnded(1);
  expect(await session.answers.allInnerTexts()).toEqual(['All of it.']);
});

test('what an agent writes is shown, and can neither run nor fetch anything', async () => {
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
});
