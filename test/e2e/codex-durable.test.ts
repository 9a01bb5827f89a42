import { testAtLength } from '@liminal/testkit/at-length';
import { answer, byModelPrompt, execCommand, gate, message, reply, text } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runCodexAlone } from './codex-alone.ts';
import { useStage } from './stage.ts';

const stage = useStage({ codex: {} });

testAtLength('a reload in the middle of Codex’s answer loses nothing of it', async () => {
  const folder = await stage.project('reload');
  const rest = gate();
  stage.codexApi.play([
    answer([message('Looking.'), execCommand('echo found')]),
    answer(message(['Half of it', rest, ' and the rest.'])),
  ]);
  const ada = await stage.person();
  const session = await ada.startSession({ folder, agent: 'Codex' });
  await session.send('Look.');
  await session.untilSaid(/^Half of it$/);

  await ada.page.reload();
  await session.untilSaid(/^Half of it$/);
  await session.tool('Run echo found').getByRole('img', { name: 'done' }).waitFor();
  rest.open();
  await session.untilSaid(/^Half of it and the rest\.$/);
  await session.untilEnded(1);

  await ada.page.reload();
  await session.untilSaid(/^Half of it and the rest\.$/);
  expect(await session.answers.allInnerTexts()).toEqual(['Looking.', 'Half of it and the rest.']);
  expect(await session.prompts.allInnerTexts()).toEqual(['Look.']);
});

test('TC-7.3b a session that Codex made alone is in the sidebar when Codex is asked, opens with its history, and goes on', async () => {
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
  await runCodexAlone('How many lines are there?', { folder, home: stage.env['HOME'] ?? '' });
  // They come back from their editor to a page that was open all the while. Only Codex can read its store.
  await ada.lookForSessions('Codex');
  const session = await ada.open('How many lines are there?');
  await session.untilSaid('There are two lines.');
  expect(await session.prompts.allInnerTexts()).toEqual(['How many lines are there?']);
  await session
    .tool(/wc -l notes\.txt/)
    .getByRole('img', { name: 'done' })
    .waitFor();

  await session.send('Are you sure?');
  await session.untilSaid('As I said: two.');
  const { body } = await stage.codexApi.request(({ prompt }) => prompt === 'Are you sure?');
  expect(JSON.stringify(body.input)).toContain('There are two lines.');
  await ada.page.reload();
  await session.untilSaid('As I said: two.');
  // Told once, though Codex tells it again to whoever loads it.
  expect(await session.prompts.allInnerTexts()).toEqual([
    'How many lines are there?',
    'Are you sure?',
  ]);
});

test('TC-8.3a a tab of Claude Code and one of Codex keep their own conversation, draft and running turn', async () => {
  const folder = await stage.project('tabs');
  const [ofClaude, ofCodex] = [gate(), gate()];
  stage.api.play([reply(text(['Claude begins', ofClaude, ' and ends.']))]);
  stage.codexApi.play([answer(message(['Codex begins', ofCodex, ' and ends.']))]);
  const ada = await stage.person();
  const claude = await ada.startSession({ folder });
  await claude.send('For Claude.');
  await claude.untilSaid(/^Claude begins$/);
  await claude.composer.fill('Draft for Claude');
  const codex = await ada.startSession({ folder, agent: 'Codex' });
  await codex.send('For Codex.');
  await codex.untilSaid(/^Codex begins$/);
  expect(await codex.conversation.getByText('Claude begins').count()).toBe(0);
  await codex.composer.fill('Draft for Codex');

  await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
  await claude.untilSaid(/^Claude begins$/);
  expect(await claude.composer.inputValue()).toBe('Draft for Claude');
  expect(await claude.prompts.allInnerTexts()).toEqual(['For Claude.']);
  // Each goes on while the other is looked at.
  ofCodex.open();
  await ada.tabs.getByRole('link', { name: 'idle For Codex.' }).waitFor();
  ofClaude.open();
  await claude.untilSaid(/^Claude begins and ends\.$/);
  await ada.tabs.getByRole('link', { name: 'For Codex.' }).click();
  await codex.untilSaid(/^Codex begins and ends\.$/);
  expect(await codex.prompts.allInnerTexts()).toEqual(['For Codex.']);
  expect(await codex.composer.inputValue()).toBe('Draft for Codex');

  await ada.page.reload();
  expect(await (await ada.session()).composer.inputValue()).toBe('Draft for Codex');
  await codex.untilSaid(/^Codex begins and ends\.$/);
  await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
  await claude.untilSaid(/^Claude begins and ends\.$/);
  expect(await claude.composer.inputValue()).toBe('Draft for Claude');
});
