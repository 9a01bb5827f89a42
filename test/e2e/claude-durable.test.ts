import { testAtLength } from '@liminal/testkit/at-length';
import { join } from 'node:path';
import { byPrompt, gate, reply, text, thinking, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaudeAlone } from './claude-alone.ts';
import { agentProcesses, untilNoProcess } from './process-table.ts';
import { useStage } from './stage.ts';

const stage = useStage();

testAtLength(
  'if a page is reloaded during a turn, nothing is lost and the turn continues',
  async () => {
    const folder = await stage.project('reload');
    const rest = gate();
    stage.api.play([
      reply([thinking('Let me think.'), text(['The first half', rest, ', the second.'])]),
    ]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Tell me.');
    await session.untilAnswer(/^The first half$/);
    await session.composer.fill('A half-written thought');

    await ada.page.reload();
    await session.untilAnswer(/^The first half$/);
    expect(await session.prompts.allTextContents()).toEqual(['Tell me.']);
    expect(await session.composer.inputValue()).toBe('A half-written thought');
    await session.stopButton.waitFor();
    rest.open();
    await session.untilAnswer(/^The first half, the second\.$/);
    await session.untilEnded(1);
    expect(await session.answers.count()).toBe(1);
    await session.conversation.getByRole('button', { name: /^Thought/ }).waitFor();
  },
);

testAtLength(
  'if two browsers follow one session and one of them answers a permission request, the request is closed in the other browser',
  async () => {
    const folder = await stage.project('two-browsers');
    const rest = gate();
    const command = { file_path: join(folder, 'new.txt'), content: 'fresh\n' };
    stage.api.play([
      reply(text(['Both can', rest, ' read this.'])),
      reply(toolUse('Write', command)),
      reply('Written.'),
    ]);
    const [ada, bob] = [await stage.person(), await stage.person()];
    const hers = await ada.startSession({ folder });
    await hers.send('Say it to both.');
    const his = await bob.open('Say it to both.');
    for (const session of [hers, his]) await session.untilAnswer(/^Both can$/);
    rest.open();
    for (const session of [hers, his]) await session.untilAnswer(/^Both can read this\.$/);

    await his.send('Now write.');
    await hers.prompts.filter({ hasText: 'Now write.' }).waitFor();
    const request = 'Permission: Write new.txt';
    await Promise.all([hers, his].map((session) => session.permission(request).waitFor()));
    await his.allow();
    await hers.permission(request).waitFor({ state: 'detached' });
    for (const session of [hers, his]) {
      await session.untilAnswer('Written.');
      await session.untilEnded(2);
      expect(await session.permission(request).count()).toBe(0);
    }
  },
);

testAtLength(
  'the page shows that it is offline only after a short delay, and no longer after reconnecting',
  async () => {
    const folder = await stage.project('down');
    const rest = gate();
    stage.api.play([reply(text(['Before,', rest, ' and after.']))]);
    const ada = await stage.person();
    const session = await ada.startSession({ folder });
    await session.send('Go.');
    await session.untilAnswer(/^Before,$/);

    stage.expectComplaints(/WebSocket connection to|Failed to load resource/);
    stage.network.down();
    const notice = ada.page.getByText('Server unreachable');
    await notice.waitFor();
    rest.open();
    stage.network.up();
    await ada.page.getByRole('button', { name: 'Try now' }).click();
    await session.untilAnswer(/^Before, and after\.$/);
    await notice.waitFor({ state: 'detached' });
    expect(await session.answers.allTextContents()).toEqual(['Before, and after.']);
  },
);

test('INV-6 INV-8 if a server is killed during a turn, nothing that was shown is lost, no process is left, and the same page continues', async () => {
  const folder = await stage.project('crash');
  // The process leaves the agent's process group and process session, so that only its mark shows that it belongs to
  // the agent.
  const detached = 'setsid -f sh -c "exec sleep 986" >/dev/null 2>&1; echo left one behind';
  const words = Array.from({ length: 4000 }, (_, index) => `word${index}`).join(' ');
  stage.api.play(
    byPrompt({
      'Leave one.': [reply(toolUse('Bash', { command: detached })), reply('I left one.')],
      // The gate never opens: a busy machine needs longer than the words until the server is killed.
      'Talk.': [reply(text([words, gate()], { chunk: 12, delayMs: 4 }))],
      'Queued meanwhile.': [reply('The queued one is answered.')],
      'Go on.': [reply('Here I am again.')],
    }),
  );
  const ada = await stage.person();
  const session = await ada.startSession({ folder });
  await session.send('Leave one.');
  await session.allow();
  await session.untilAnswer('I left one.');
  await session.send('Talk.');
  await session.untilAnswer('word40');
  await session.send('Queued meanwhile.');
  await session.queue.getByText('Queued meanwhile.').waitFor();
  await session.untilAnswer('word120');

  stage.expectComplaints(/WebSocket connection to|Failed to load resource/);
  const crashed = stage.server.pid;
  const commands = (await agentProcesses(crashed)).map(({ command }) => command);
  expect(commands).toContain('sleep 986');
  await stage.server.crash();
  const seen = await session.answers.last().innerText();
  await untilNoProcess(crashed);
  await stage.server.restart();

  // The page was not reloaded, and the user has done nothing.
  await session.untilEnded(2);
  await session.failureOf('last').filter({ hasText: 'server stopped' }).waitFor();
  expect((await session.answers.last().innerText()).startsWith(seen)).toBe(true);
  await session.queue.getByText('Queued meanwhile.').waitFor();

  await session.send('Go on.');
  await session.untilAnswer('The queued one is answered.');
  await session.untilAnswer('Here I am again.');
  const prompts = ['Leave one.', 'Talk.', 'Queued meanwhile.', 'Go on.'];
  expect(await session.prompts.allTextContents()).toEqual(prompts);

  // A page that is opened now shows the same conversation.
  const bob = await stage.person();
  const his = await bob.open('Leave one.');
  await his.untilEnded(4);
  expect(await his.answers.allTextContents()).toEqual(await session.answers.allTextContents());
});

test('TC-7.3a TC-8.3b a session that Claude made without Liminal is in the sidebar, shows its history when opened, and continues, even over a connection that breaks during a turn', async () => {
  const folder = await stage.project('alone', { 'notes.txt': 'one\ntwo\n' });
  const [second, third] = [gate(), gate()];
  stage.api.play([
    reply([thinking('I should read.'), toolUse('Read', { file_path: join(folder, 'notes.txt') })]),
    reply('There are two lines.'),
    reply('As I said: two.'),
    reply(text(['One,', second, ' two,', third, ' three.'])),
  ]);
  const ada = await stage.person();
  await runClaudeAlone('How many lines are there?', { folder, env: stage.env });
  // The page was open all the time. Now the user returns to it from the terminal.
  await ada.lookAgain();
  const session = await ada.open('How many lines are there?');
  await session.untilAnswer('There are two lines.');
  expect(await session.prompts.allTextContents()).toEqual(['How many lines are there?']);
  await session.tool('Read notes.txt').getByRole('img', { name: 'done' }).waitFor();

  await session.send('Are you sure?');
  await session.untilAnswer('As I said: two.');
  const { body } = await stage.api.request(({ prompt }) => prompt === 'Are you sure?');
  expect(JSON.stringify(body.messages)).toContain('There are two lines.');
  await ada.page.reload();
  await session.untilAnswer('As I said: two.');
  expect(await session.prompts.allTextContents()).toEqual([
    'How many lines are there?',
    'Are you sure?',
  ]);

  await session.send('Count.');
  await session.untilAnswer(/^One,$/);
  await session.composer.fill('Not sent yet');

  // After a reconnect the page requests agents and projects. The next cut may break such a request; it is sent again
  // after the next reconnect.
  stage.expectComplaints(/ERR_CONNECTION_RESET.*\/api\/(agents|projects)/);
  stage.network.cut();
  second.open();
  await session.untilAnswer(/^One, two,$/);
  expect(await ada.page.getByText('Server unreachable').count()).toBe(0);
  stage.network.cut();
  third.open();
  await session.untilAnswer(/^One, two, three\.$/);
  await session.untilEnded(3);
  expect(await session.answers.allTextContents()).toEqual([
    'There are two lines.',
    'As I said: two.',
    'One, two, three.',
  ]);
  expect(await session.composer.inputValue()).toBe('Not sent yet');
});

testAtLength(
  'TC-8.3a while another tab is shown, each tab keeps its own conversation, draft and running turn',
  async () => {
    const folder = await stage.project('tabs');
    const rest = gate();
    stage.api.play([reply(text(['Claude begins', rest, ' and ends.']))]);
    const ada = await stage.person();
    const claude = await ada.startSession({ folder });
    await claude.send('For Claude.');
    await claude.untilAnswer(/^Claude begins$/);
    await claude.composer.fill('Draft for Claude');

    const demo = await ada.startSession({ folder, agent: 'Demo' });
    await demo.choose('Speed', 'Instant');
    await demo.send('explain');
    await demo.untilAnswer('Demo, recorded');
    expect(await demo.conversation.getByText('Claude begins').count()).toBe(0);
    await demo.composer.fill('Draft for the demo');

    await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
    await claude.untilAnswer(/^Claude begins$/);
    expect(await claude.composer.inputValue()).toBe('Draft for Claude');
    expect(await claude.prompts.allTextContents()).toEqual(['For Claude.']);
    await ada.tabs.getByRole('link', { name: 'explain' }).click();
    rest.open();
    await demo.untilEnded(1);
    expect(await demo.prompts.allTextContents()).toEqual(['explain']);
    expect(await demo.composer.inputValue()).toBe('Draft for the demo');

    await ada.tabs.getByRole('link', { name: 'For Claude.' }).click();
    await claude.untilAnswer(/^Claude begins and ends\.$/);
    await claude.untilEnded(1);

    await ada.page.reload();
    expect(await (await ada.session()).composer.inputValue()).toBe('Draft for Claude');
    await ada.tabs.getByRole('link', { name: 'explain' }).click();
    await demo.untilAnswer('Demo, recorded');
    expect(await demo.composer.inputValue()).toBe('Draft for the demo');
  },
);
