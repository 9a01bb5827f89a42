import { answer, reply } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { useStage } from './stage.ts';

const stage = useStage({ codex: {} });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;

/** What each question is answered with, in the order in which they are asked. */
const answers = [1, 2, 3, 4, 5, 6, 7].map((n) => `Answer ${n}.`);

/** The questions and answers that a request to a model holds. */
const told = (request: unknown): string[] =>
  JSON.stringify(request).match(/(Question|Answer) \d\./g) ?? [];

const exchanges = (...numbers: number[]): string[] =>
  numbers.flatMap((n) => [`Question ${n}.`, `Answer ${n}.`]);

test.each([
  {
    agent: 'Claude Code',
    play: () => stage.api.play(answers.map((text) => reply(text))),
    lastRequest: () => told(stage.api.requests.findLast(({ kind }) => kind === 'main')?.body),
  },
  {
    agent: 'Codex',
    play: () => stage.codexApi.play(answers.map((text) => answer(text))),
    lastRequest: () => told(stage.codexApi.requests.at(-1)?.body.input),
  },
])(
  'a session of $agent is forked after its second turn of four; both go on, also with the next server',
  async ({ agent, play, lastRequest }) => {
    play();
    const ada = await stage.person();
    const session = await ada.startSession({ folder: await stage.project(agent), agent });
    const ask = async (question: number, turns: number): Promise<void> => {
      await session.send(`Question ${question}.`);
      await session.untilSaid(`Answer ${question}.`);
      await session.untilEnded(turns);
    };
    for (const n of [1, 2, 3, 4]) await ask(n, n);

    const second = session.turns.nth(1);
    await second.hover();
    await second.getByRole('button', { name: 'Fork from here' }).click();
    await ada.page.getByText('Forked from').waitFor();
    await session.untilEnded(2);
    const prompts = async () => session.prompts.allInnerTexts();
    expect(await prompts()).toEqual(['Question 1.', 'Question 2.']);
    expect(await session.answers.allInnerTexts()).toEqual(['Answer 1.', 'Answer 2.']);
    await ask(5, 3);
    expect(lastRequest()).toEqual([...exchanges(1, 2), 'Question 5.']);

    // The link leads to the turn that both have.
    await session.conversation.getByRole('link', { name: 'Question 1.' }).click();
    await expect.poll(prompts).toHaveLength(4);
    await expect
      .poll(() => ada.page.evaluate(() => document.activeElement?.textContent))
      .toContain('Question 2.');
    await ask(6, 5);
    expect(lastRequest()).toEqual([...exchanges(1, 2, 3, 4), 'Question 6.']);

    stage.expectComplaints(away);
    await stage.server.crash();
    await stage.server.restart();
    await ada.page.reload();
    await session.untilEnded(5);
    expect(await prompts()).toEqual([1, 2, 3, 4, 6].map((n) => `Question ${n}.`));
    await ada.open('Fork of Question 1.');
    await session.untilEnded(3);
    expect(await prompts()).toEqual([1, 2, 5].map((n) => `Question ${n}.`));
    await ask(7, 4);
    expect(lastRequest()).toEqual([...exchanges(1, 2, 5), 'Question 7.']);
  },
);
