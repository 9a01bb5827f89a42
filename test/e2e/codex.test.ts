import { testAtLength } from '@liminal/testkit/at-length';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerMessage } from '@liminal/protocol';
import {
  answer,
  applyPatch,
  byModelPrompt,
  execCommand,
  failed,
  gate,
  message,
  reasoning,
  reply,
  text,
  updatePlan,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodexAlone } from './codex-alone.ts';
import { agentProcesses } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage({ codex: {} });

test('TC-8.2a TC-7.1b TC-8.2b TC-7.1c a session is created, a message is sent, and Codex’s answer is shown while it is being written; then a command’s card shows the command’s name while it runs, its growing output, and its result', async () => {
  const folder = await stage.project('tools');
  const [second, third] = [gate(), gate()];
  const waits =
    'until [ -e more ]; do sleep 0.1; done; echo half; until [ -e go ]; do sleep 0.1; done';
  stage.codexApi.play([
    answer([
      reasoning(['**Greet** them back.', '**Count** to three.']),
      message(['The first', second, ' and the second', third, ' and the third.']),
    ]),
    answer([message('Waiting.'), execCommand(`${waits}; echo went; exit 3`, { yieldMs: 30_000 })]),
    answer('It went.'),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder, agent: 'Codex' });

  await session.send('Tell me something.');
  await session.untilAnswer(/^The first$/);
  const place = await session.answers.getAttribute('data-item-id');
  second.open();
  await session.untilAnswer(/^The first and the second$/);
  expect(await session.stopButton.isVisible()).toBe(true);
  third.open();
  await session.untilAnswer(/^The first and the second and the third\.$/);
  await session.untilEnded(1);

  expect(await session.answers.count()).toBe(1);
  expect(await session.answers.getAttribute('data-item-id')).toBe(place);
  expect(await session.prompts.innerText()).toBe('Tell me something.');
  const told = upserts(ada.received).filter((one) => one.type === 'message');
  expect(told.at(-1)).toMatchObject({
    origin: 'agent',
    status: 'complete',
    content: 'The first and the second and the third.',
  });
  await session.conversation.getByRole('button', { name: /^Thought/ }).click();
  await session.conversation.getByText('Count to three.').waitFor();

  await session.send('Wait for it.');
  const card = session.tool(/^Run until/);
  await card.getByRole('img', { name: 'running' }).waitFor();
  await session.unfold(card);
  await stage.project('tools', { more: '' });
  await card
    .locator('pre')
    .filter({ hasText: /^half\s*$/ })
    .waitFor();
  expect(await card.getByRole('img', { name: 'running' }).isVisible()).toBe(true);
  await stage.project('tools', { go: '' });
  await card.getByRole('img', { name: 'failed' }).waitFor();
  await card
    .locator('pre')
    .filter({ hasText: /^half\s+went\s*$/ })
    .waitFor();
  await session.untilAnswer('It went.');
  await session.untilEnded(2);

  const calls = upserts(ada.received).filter((one) => one.type === 'tool_call');
  const ofStatus = (status: string) => calls.filter((call) => call.status === status);
  expect(calls[0]).toMatchObject({ status: 'create', toolName: expect.stringMatching(/\w/) });
  expect(calls.at(-1)).toMatchObject({
    status: 'complete',
    toolArguments: { cwd: folder },
    toolOutput: 'half\nwent\n',
    exitCode: 3,
  });
  expect([ofStatus('create').length, ofStatus('complete').length]).toEqual([1, 1]);
});

testAtLength(
  'a plan is shown while it progresses, and a patch is shown by its changes',
  async () => {
    const folder = await stage.project('edits', { 'greet.txt': 'hello\nworld\n' });
    const looked = gate();
    stage.codexApi.play([
      answer(
        updatePlan([
          ['Look at it', 'in_progress'],
          ['Change it', 'pending'],
        ]),
      ),
      answer([
        message([looked, 'Now I change it.']),
        updatePlan([
          ['Look at it', 'completed'],
          ['Change it', 'in_progress'],
        ]),
        applyPatch(['*** Update File: greet.txt', '@@', ' hello', '-world', '+there']),
      ]),
      answer('Changed.'),
    ]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Change it.');
    await session.conversation.getByText('Change it', { exact: true }).waitFor();
    looked.open();
    await session.untilAnswer('Changed.');
    await session.untilEnded(1);

    const edit = session.tool('Edit greet.txt');
    await edit.getByLabel('1 lines added').waitFor();
    await session.unfold(edit);
    const lines = await edit.getByRole('row').allInnerTexts();
    expect(lines.map((line) => line.replace(/\s/g, ''))).toEqual(['1hello', '2−world', '2+there']);
    expect(await readFile(join(folder, 'greet.txt'), 'utf8')).toBe('hello\nthere\n');
    expect(upserts(ada.received).findLast((one) => one.type === 'plan')?.entries).toMatchObject([
      { status: 'completed' },
      { status: 'in_progress' },
    ]);
    const all = session.tool('1 file changed');
    await all.getByText('greet.txt', { exact: true }).waitFor();
    await session.unfold(all);
    expect(await all.getByRole('row').allInnerTexts()).toHaveLength(3);
  },
);

testAtLength(
  'stop ends Codex’s turn in the middle of its text, the text so far stays, and the session accepts the next message',
  async () => {
    const folder = await stage.project('cancel');
    stage.codexApi.play(
      byModelPrompt({
        'Go on for ever.': [answer(message(['I have begun', gate(), ' and ended.']))],
        'Still there?': [answer('Still here.')],
      }),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Go on for ever.');
    await session.untilAnswer(/^I have begun$/);
    await session.stopButton.click();
    await session.untilEnded(1);
    await session.lastTurn.getByText(/^Stopped/).waitFor();
    expect(await session.answers.allTextContents()).toEqual(['I have begun']);

    await session.send('Still there?');
    await session.untilAnswer('Still here.');
    await session.untilEnded(2);
  },
);

testAtLength(
  'Escape stops a command of Codex: the command’s card is closed, and the session continues',
  async () => {
    const folder = await stage.project('cancel-tool');
    stage.codexApi.play(
      byModelPrompt({
        'Follow.': [
          answer(execCommand('until [ -e never ]; do sleep 0.2; done', { yieldMs: 30_000 })),
        ],
        'And now?': [answer('Done with it.')],
      }),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Follow.');
    const card = session.tool(/^Run until/);
    await card.getByRole('img', { name: 'running' }).waitFor();
    await session.composer.press('Escape');
    await session.untilEnded(1);
    await session.lastTurn.getByText(/^Stopped/).waitFor();
    await card.getByRole('img', { name: 'running' }).waitFor({ state: 'detached' });

    await session.send('And now?');
    await session.untilAnswer('Done with it.');
    // Codex itself lets the command run until it ends.
    await ada.endProcess();
    await expect.poll(() => commandsIn(folder)).toEqual([]);
  },
);

async function commandsIn(folder: string): Promise<string[]> {
  const processes = await agentProcesses(stage.server.pid);
  return processes.filter((entry) => entry.folder === folder).map((entry) => entry.command);
}

testAtLength(
  'an error of the model is shown in plain words, and the next message is answered',
  async () => {
    const folder = await stage.project('api-error');
    stage.codexApi.play(
      byModelPrompt({
        'Too much.': [failed('insufficient_quota', 'You exceeded your current quota.')],
        'Less.': [answer('Better now.')],
      }),
    );
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Too much.');
    await session.send('Less.');
    await session.untilAnswer('Better now.');
    await session.untilEnded(2);
    expect(await session.failureOf('first').innerText()).toContain('Quota exceeded.');
    expect(await session.turns.first().getAttribute('data-status')).toBe('error');
  },
);

testAtLength(
  'if the page is reloaded during Codex’s answer, no part of the answer is lost',
  async () => {
    const folder = await stage.project('reload');
    const rest = gate();
    stage.codexApi.play([
      answer([message('Looking.'), execCommand('echo found')]),
      answer(message(['Half of it', rest, ' and the rest.'])),
    ]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent: 'Codex' });
    await session.send('Look.');
    await session.untilAnswer(/^Half of it$/);

    await ada.page.reload();
    await session.untilAnswer(/^Half of it$/);
    await session.tool('Run echo found').getByRole('img', { name: 'done' }).waitFor();
    rest.open();
    await session.untilAnswer(/^Half of it and the rest\.$/);
    await session.untilEnded(1);

    await ada.page.reload();
    await session.untilAnswer(/^Half of it and the rest\.$/);
    expect(await session.answers.allTextContents()).toEqual([
      'Looking.',
      'Half of it and the rest.',
    ]);
    expect(await session.prompts.allTextContents()).toEqual(['Look.']);
  },
);

test('TC-7.3b a session that Codex made without Liminal is in the sidebar after the page has asked Codex, shows its history when opened, and continues', async () => {
  const folder = await stage.project('alone', { 'notes.txt': 'one\ntwo\n' });
  stage.codexApi.play(
    byModelPrompt({
      'How many': [
        answer([message('I count.'), execCommand('wc -l notes.txt')]),
        answer('There are two lines.'),
      ],
      'Are you sure?': [answer('As I said: two.')],
    }),
  );
  const ada = await stage.person();
  await runCodexAlone('How many lines has it?', { folder, home: stage.env['HOME'] ?? '' });
  // The page was open in the browser during all the time in which the user worked in an editor. The page must ask
  // Codex, because only Codex can read its own store.
  await ada.lookForSessions('Codex');
  const session = await ada.open('How many lines has it?');
  await session.untilAnswer('There are two lines.');
  expect(await session.prompts.allTextContents()).toEqual(['How many lines has it?']);
  await session
    .tool(/wc -l notes\.txt/)
    .getByRole('img', { name: 'done' })
    .waitFor();

  await session.send('Are you sure?');
  await session.untilAnswer('As I said: two.');
  const { body } = await stage.codexApi.request(({ prompt }) => prompt === 'Are you sure?');
  expect(JSON.stringify(body.input)).toContain('There are two lines.');
  await ada.page.reload();
  await session.untilAnswer('As I said: two.');
  // Each prompt is shown once, although Codex reports it to each client that loads the session.
  expect(await session.prompts.allTextContents()).toEqual([
    'How many lines has it?',
    'Are you sure?',
  ]);
});

test('TC-8.3a a tab of Claude Code and a tab of Codex each keep their own conversation, draft and running turn', async () => {
  const folder = await stage.project('tabs');
  const [ofClaude, ofCodex] = [gate(), gate()];
  stage.api.play([reply(text(['Claude begins', ofClaude, ' and ends.']))]);
  stage.codexApi.play([answer(message(['Codex begins', ofCodex, ' and ends.']))]);
  const ada = await stage.person();
  const claude = await ada.startSession({ folder });
  await claude.send('For Claude.');
  await claude.untilAnswer(/^Claude begins$/);
  await claude.composer.fill('Draft for Claude');
  const codex = await ada.startSession({ folder, agent: 'Codex' });
  await codex.send('For Codex.');
  await codex.untilAnswer(/^Codex begins$/);
  expect(await codex.conversation.getByText('Claude begins').count()).toBe(0);
  await codex.composer.fill('Draft for Codex');

  await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
  await claude.untilAnswer(/^Claude begins$/);
  expect(await claude.composer.inputValue()).toBe('Draft for Claude');
  expect(await claude.prompts.allTextContents()).toEqual(['For Claude.']);
  // Each session's turn continues while the page shows the other session.
  ofCodex.open();
  await ada.tabs.getByRole('link', { name: 'finished, not seen yet For Codex.' }).waitFor();
  ofClaude.open();
  await claude.untilAnswer(/^Claude begins and ends\.$/);
  await ada.tabs.getByRole('link', { name: 'For Codex.' }).click();
  await codex.untilAnswer(/^Codex begins and ends\.$/);
  expect(await codex.prompts.allTextContents()).toEqual(['For Codex.']);
  expect(await codex.composer.inputValue()).toBe('Draft for Codex');

  await ada.page.reload();
  expect(await (await ada.session()).composer.inputValue()).toBe('Draft for Codex');
  await codex.untilAnswer(/^Codex begins and ends\.$/);
  await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
  await claude.untilAnswer(/^Claude begins and ends\.$/);
  expect(await claude.composer.inputValue()).toBe('Draft for Claude');
});

type Upsert = Extract<ServerMessage, { type: 'session:upsert' }>['payload'];

const upserts = (received: readonly ServerMessage[]): Upsert[] =>
  received.flatMap((one) => (one.type === 'session:upsert' ? [one.payload] : []));
