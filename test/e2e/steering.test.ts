import { join } from 'node:path';
import { answer, execCommand, reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import type { SessionTab } from './session-tab.ts';
import { useStage } from './stage.ts';

const stage = useStage({ codex: { approvalPolicy: 'on-request', sandbox: 'read-only' } });

/** Agents that want something done, and wait for leave; then their models answer. */
const agents = [
  {
    agent: 'Claude Code',
    play: (folder: string, ...answers: string[]) => {
      const write = toolUse('Write', { file_path: join(folder, 'new.txt'), content: 'fresh\n' });
      stage.api.play([reply(write), ...answers.map((said) => reply(said))]);
    },
    /** What the model was asked, request by request. */
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

/** What the person said, in the order in which it is shown, with what became of it. */
const shown = (session: SessionTab) => session.prompts.allInnerTexts();

test.each(agents)(
  'a word to $agent at work reaches its model in the same turn, and is shown once in it, to others and after a reload',
  async ({ agent, play, asked }) => {
    const folder = await stage.project(`steer ${agent}`);
    play(folder, 'With that in mind.', 'And the rest.');
    const ada = await stage.person();
    const session = await ada.startSession({ folder, agent });
    await session.send('Make it.');
    await session.permission(/^Permission: /).waitFor();
    const before = asked().length;
    await session.send('Later.');

    await session.composer.fill('Call it otherwise.');
    await session.composer.press('Control+Enter');
    await session.lastTurn.getByText('Sent, not read yet').waitFor();
    const bob = await stage.person();
    await bob.page.goto(ada.page.url());
    const his = await bob.session();
    await his.lastTurn.getByText('Sent, not read yet').waitFor();
    await session.allow();
    await session.untilSaid('With that in mind.');
    await session.untilEnded(2);

    expect(asked()[before]).toContain('Call it otherwise.');
    expect(asked()[before]).not.toContain('Later.');
    for (const tab of [session, his]) {
      await tab.untilEnded(2);
      await tab.turns.first().getByText('Said while it worked').waitFor();
      expect(await shown(tab)).toEqual(['Make it.', 'Call it otherwise.', 'Later.']);
    }
    await ada.page.reload();
    await session.untilEnded(2);
    await session.turns.first().getByText('Said while it worked').waitFor();
    expect(await shown(session)).toEqual(['Make it.', 'Call it otherwise.', 'Later.']);
  },
);

test.each(agents)(
  'a message that waits for $agent is said at once, and the others wait on',
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

test.each(agents)(
  'the reason of a refusal reaches the model of $agent, and is shown with the request',
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
    await session.untilSaid('Then otherwise.');
    await session.untilEnded(1);

    expect(asked()[before]).toContain('The user refused this, and says: Not in this folder.');
    expect(await shown(session)).toEqual(['Make it.']);
    const noted = session.conversation.getByText('“Not in this folder.”');
    if (!(await noted.isVisible())) await session.unfold(session.tool(/new\.txt/).first());
    await noted.waitFor();
    expect(await session.conversation.getByText(/Not in this folder/).count()).toBe(1);
  },
);
