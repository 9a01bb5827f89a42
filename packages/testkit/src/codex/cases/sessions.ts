import { answer, message, reasoning } from '../../responses-api/reply.ts';
import { byModelPrompt } from '../../responses-api/script.ts';
import { startsItem, hasMethod, type RecordedCase, type RecordingClient } from '../record.ts';
import { applyPatch, execCommand, updatePlan } from '../tools.ts';

/** The script of a thread with every kind of entry that a later process must show. */
const eventful: RecordedCase['script'] = () => [
  answer([
    reasoning(['**First** I look.', '**Then** I change.']),
    message('Looking.'),
    execCommand('cat notes.txt'),
  ]),
  answer(execCommand('echo broken; exit 3')),
  answer(updatePlan([['Change the notes', 'in_progress']])),
  answer(applyPatch(['*** Update File: notes.txt', '@@', '-one', '+eins'])),
  answer('Changed.'),
  answer([message('A second answer.'), message('In two messages.')]),
  answer('A third answer.'),
];

const files = { 'notes.txt': 'one\n' };

const live = async (client: RecordingClient): Promise<string> => {
  const thread = await client.newSession();
  await client.prompt(thread, 'The first question.');
  await client.prompt(thread, 'The second question.');
  return thread;
};

const unknownId = '11111111-2222-4333-8444-555555555555';

const text = (value: string) => [{ type: 'text', text: value, text_elements: [] }];

/** Cases in which a new process opens an old thread. */
const storedCases: RecordedCase[] = [
  {
    name: 'load',
    about: 'An old thread is taken up by a new process, which is asked for its turns.',
    files,
    script: eventful,
    run: async (client) => {
      const thread = await live(client);
      await client.reopen(thread);
      await client.history(thread);
      await client.prompt(thread, 'The third question.');
    },
  },
  {
    name: 'load-pages',
    about: 'The turns of a thread are asked for one by one, and newest first.',
    script: () => [answer('One.'), answer('Two.')],
    run: async (client) => {
      const threadId = await live(client);
      const page = async (params: Record<string, unknown>): Promise<unknown> => {
        const { result } = await client.request('thread/turns/list', {
          threadId,
          limit: 1,
          itemsView: 'full',
          ...params,
        });
        return Object(result).nextCursor as unknown;
      };
      await page({ sortDirection: 'asc', cursor: await page({ sortDirection: 'asc' }) });
      await page({});
    },
  },
  {
    name: 'load-cancelled',
    about: 'A thread is taken up whose turns were stopped and killed in the middle of a text.',
    script: (_workspace, gate) =>
      byModelPrompt({
        stopped: [answer(message(['Half of it', gate, ' and the rest']))],
        killed: [answer(message(['Another half', gate, ' and the rest']))],
        third: [answer('A whole answer.')],
      }),
    run: async (client) => {
      const thread = await client.newSession();
      const turn = await client.begin(thread, 'To be stopped.');
      await client.until(hasMethod('item/agentMessage/delta'));
      await client.interrupt(thread, turn);
      await client.begin(thread, 'To be killed.');
      await client.until(hasMethod('item/agentMessage/delta'));
      await client.reopen(thread);
      await client.history(thread);
      await client.prompt(thread, 'The third question.');
      await client.history(thread);
    },
  },
  {
    name: 'load-killed-command',
    about: 'A thread is taken up that was killed while a command ran.',
    files: { running: '' },
    script: () => [
      answer([
        message('Before it.'),
        execCommand('while [ -e running ]; do sleep 0.05; done', { yieldMs: 10_000 }),
      ]),
      answer('A whole answer.'),
    ],
    run: async (client) => {
      const thread = await client.newSession();
      await client.begin(thread, 'To be killed.');
      await client.until(startsItem('commandExecution'));
      await client.reopen(thread);
      await client.history(thread);
      await client.prompt(thread, 'And now?');
    },
  },
  {
    name: 'load-unknown',
    about: 'Threads that cannot be taken up: ones that never were, and one without a message.',
    script: () => [],
    run: async (client) => {
      const empty = await client.newSession();
      for (const threadId of [unknownId, 'no such id', empty]) {
        await client.request('thread/resume', { threadId, excludeTurns: true });
        await client.history(threadId);
      }
      await client.request('turn/start', { threadId: unknownId, input: text('Anybody?') });
      await client.request('turn/interrupt', { threadId: empty, turnId: unknownId });
    },
  },
  {
    name: 'fork',
    about: 'A thread is forked: both go on by themselves.',
    script: () => [answer('One.'), answer('Two.'), answer('Three.')],
    run: async (client) => {
      const threadId = await client.newSession();
      await client.prompt(threadId, 'The question of both.');
      const forked = await client.open('thread/fork', { threadId, excludeTurns: true });
      await client.prompt(forked, 'A question of the fork.');
      await client.prompt(threadId, 'A question of the first.');
      await client.history(forked);
      await client.history(threadId);
    },
  },
];

const liveCases: RecordedCase[] = [
  {
    name: 'list-and-close',
    about: 'Threads are listed, of all folders and of one; one is named, and one is archived.',
    script: () => [answer('One.'), answer('Two.')],
    run: async (client) => {
      const first = await client.newSession();
      await client.prompt(first, 'The first thread.');
      // Wait, because Codex sorts threads by their time in whole seconds.
      await client.silence();
      await client.prompt(await client.newSession(), 'The second thread.');
      await client.request('thread/name/set', { threadId: first, name: 'A name' });
      await client.until(hasMethod('thread/name/updated'));
      const all = { limit: 100, sortKey: 'updated_at', modelProviders: [] };
      await client.request('thread/list', all);
      await client.request('thread/list', { ...all, cwd: client.workspace.projectDir, limit: 1 });
      await client.request('thread/list', { ...all, cwd: '/nowhere' });
      await client.request('thread/archive', { threadId: first });
      await client.until(hasMethod('thread/archived'));
      await client.request('thread/list', all);
    },
  },
  {
    name: 'settings',
    about: 'Turns are asked for with settings of their own, well and badly.',
    codex: { approvalPolicy: 'on-request', sandbox: 'read-only' },
    script: () => [answer('Under new rules.'), answer('Still.'), answer('A strange model.')],
    run: async (client) => {
      const thread = await client.newSession();
      await client.request('model/list', {});
      await client.prompt(thread, 'Which are you?', {
        approvalPolicy: 'never',
        sandboxPolicy: { type: 'dangerFullAccess' },
        model: 'scripted-mini',
        effort: 'low',
      });
      await client.prompt(thread, 'And now?');
      const badly = (params: Record<string, unknown>) =>
        client.request('turn/start', { threadId: thread, input: text('Well?'), ...params });
      await badly({ approvalPolicy: 'sometimes' });
      await badly({ sandboxPolicy: { type: 'nonsense' } });
      await client.prompt(thread, 'And you?', { model: 'nonsense', effort: 'endless' });
    },
  },
  {
    name: 'sessions-together',
    about: 'Two threads of one process are answered at the same time.',
    script: (_workspace, gate) =>
      byModelPrompt({
        first: [answer(message(['One begins', gate, ' and ends.']))],
        second: [answer(message('Two, all of it.', { chunk: 5 }))],
      }),
    run: async (client) => {
      const first = await client.newSession();
      const second = await client.newSession();
      const turn = await client.begin(first, 'The first question.');
      await client.until(hasMethod('item/agentMessage/delta'));
      await client.prompt(second, 'The second question.');
      client.gate.open();
      await client.ended(turn);
    },
  },
  {
    name: 'prompts-together',
    about: 'A second turn is asked for while the first runs: it is taken for a word to the first.',
    script: (_workspace, gate) =>
      byModelPrompt({
        first: [answer(message(['One begins', gate, ' and ends.']))],
        second: [answer('Two.')],
      }),
    run: async (client) => {
      const thread = await client.newSession();
      const turn = await client.begin(thread, 'The first question.');
      await client.until(hasMethod('item/agentMessage/delta'));
      await client.begin(thread, 'The second question.');
      await client.ended(turn);
    },
  },
  {
    name: 'killed',
    about: 'The process is killed in the middle of a text.',
    script: (_workspace, gate) => [answer(message(['Half of it', gate, ' and the rest']))],
    run: async (client) => {
      await client.begin(await client.newSession(), 'Say it.');
      await client.until(hasMethod('item/agentMessage/delta'));
      await client.kill();
    },
  },
];

export const sessionCases: RecordedCase[] = [...storedCases, ...liveCases];
