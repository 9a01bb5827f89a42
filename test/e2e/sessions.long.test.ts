import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answer,
  byModelPrompt,
  byPrompt,
  gate,
  type Gate,
  message,
  reply,
  text,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaudeAlone } from './claude-alone.ts';
import { runCodexAlone } from './codex-alone.ts';
import { useStage } from './stage.ts';
import type { Person } from './person.ts';
import { untilNoProcess } from './process-table.ts';

const stage = useStage({ codex: {} });

const away = /ERR_|Failed to (fetch|load)|WebSocket|status of 50\d|chrome-error/;

/** Sends the prompts `Question 1.` to `Question 7.`, in order. Each gets an answer. */
const questions = <Reply>(play: (said: string) => Reply): Record<string, Reply> =>
  Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((n) => [`Question ${n}.`, play(`Answer ${n}.`)]));

/** Returns the questions and answers in a request to a model. */
const exchangesIn = (request: unknown): string[] =>
  JSON.stringify(request).match(/(Question|Answer) \d\./g) ?? [];

const exchanges = (...numbers: number[]): string[] =>
  numbers.flatMap((n) => [`Question ${n}.`, `Answer ${n}.`]);

interface Agent {
  /** Writes scripts for the model's answers. The answer to `Delete me.` waits until the test lets it continue. */
  play: (rest: Gate) => void;
  /** Returns the questions and answers in the last request that the model received. */
  lastRequest: () => string[];
  /** Creates a session without Liminal. */
  alone: (prompt: string, folder: string) => Promise<unknown>;
  /** The folder in which the agent stores its own sessions, below the home folder. */
  ownStore: string;
}

const home = () => stage.env['HOME'] ?? '';

const agents: Record<string, Agent> = {
  'Claude Code': {
    play: (rest) =>
      stage.api.play(
        byPrompt({
          ...questions((said) => [reply(said)]),
          'Put me away.': [reply('Put.')],
          'Delete me.': [reply(text(['Not yet,', rest, ' now.']))],
          'Come back.': [reply('Here I am.')],
          'Made alone.': [reply('Alone.')],
        }),
      ),
    lastRequest: () =>
      exchangesIn(stage.api.requests.findLast(({ kind }) => kind === 'main')?.body),
    alone: async (prompt, folder) => runClaudeAlone(prompt, { folder, env: stage.env }),
    ownStore: '.claude/projects',
  },
  Codex: {
    play: (rest) =>
      stage.codexApi.play(
        byModelPrompt({
          ...questions((said) => [answer(said)]),
          'Put me away.': [answer('Put.')],
          'Delete me.': [answer(message(['Not yet,', rest, ' now.']))],
          'Come back.': [answer('Here I am.')],
          'Made alone.': [answer('Alone.')],
        }),
      ),
    lastRequest: () => exchangesIn(stage.codexApi.requests.at(-1)?.body.input),
    alone: async (prompt, folder) => runCodexAlone(prompt, { folder, home: home() }),
    ownStore: '.codex/sessions',
  },
};

const section = (person: Person, name: string) => person.sidebar.getByRole('region', { name });
const row = (person: Person, title: string) => person.sidebar.getByRole('link', { name: title });

/** Chooses an entry in the menu of a session in the list. */
async function fromRow(person: Person, title: string, item: string): Promise<void> {
  await row(person, title).first().click({ button: 'right' });
  await person.page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function deleteFromRow(person: Person, title: string): Promise<void> {
  await fromRow(person, title, 'Delete…');
  const dialog = person.page.getByRole('dialog', { name: 'Delete this session?' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(person, title).waitFor({ state: 'detached' });
}

async function openArchive(person: Person): Promise<void> {
  await person.sidebar.getByRole('button', { name: /^Archived/ }).click();
}

test.each(Object.entries(agents))(
  'if sessions of %s are pinned, archived or deleted, this applies to all clients, also after a restart; the agent’s own sessions can be changed in the same way without being opened, and the agent’s own store does not change; a session with four turns is forked after its second turn, and both sessions continue, also on the next server',
  async (agent, { play, lastRequest, alone, ownStore }) => {
    const rest = gate();
    play(rest);
    const folder = await stage.project(`kept-${agent}`);
    const doomedFolder = await stage.project(`deleted-${agent}`);
    const kept = 'Question 1.';
    const [ada, bob] = [await stage.person(), await stage.person()];
    const session = await ada.startSession({ folder, agent });
    const ask = async (question: number, turns: number): Promise<void> => {
      await session.send(`Question ${question}.`);
      await session.untilAnswer(`Answer ${question}.`);
      await session.untilEnded(turns);
    };
    for (const n of [1, 2, 3, 4]) await ask(n, n);

    const second = session.turns.nth(1);
    await second.hover();
    await second.getByRole('button', { name: 'Fork from here' }).click();
    await ada.page.getByText('Forked from').waitFor();
    await session.untilEnded(2);
    const prompts = async () => session.prompts.allTextContents();
    expect(await prompts()).toEqual(['Question 1.', 'Question 2.']);
    expect(await session.answers.allTextContents()).toEqual(['Answer 1.', 'Answer 2.']);
    await session.conversation.getByText('The fork begins here.').waitFor();
    await ask(5, 3);
    expect(lastRequest()).toEqual([...exchanges(1, 2), 'Question 5.']);

    // The link leads to the turn that is in both sessions.
    await session.conversation.getByRole('link', { name: 'Question 1.' }).click();
    await expect.poll(prompts).toHaveLength(4);
    await expect
      .poll(() => ada.page.evaluate(() => document.activeElement?.textContent))
      .toContain('Question 2.');
    await ask(6, 5);
    expect(lastRequest()).toEqual([...exchanges(1, 2, 3, 4), 'Question 6.']);

    const put = await ada.startSession({ folder, agent });
    await put.send('Put me away.');
    await put.untilEnded(1);
    const doomed = await ada.startSession({ folder: doomedFolder, agent });
    await doomed.send('Delete me.');
    await doomed.untilAnswer(/^Not yet,$/);
    await doomed.send('Never said.');
    const { id } = doomed;
    await bob.open('Delete me.');
    await bob.page.getByRole('list', { name: 'Queued messages' }).waitFor();

    // This is a session that the agent made without Liminal, and that was never opened.
    const lookAgain = async (person: Person) =>
      agent === 'Codex' ? person.lookForSessions(agent) : person.lookAgain();
    await alone('Made alone.', folder);
    const before = await untilStored(ownStore, 'Made alone.');
    await lookAgain(ada);
    await fromRow(ada, 'Made alone.', 'Archive');
    await section(ada, 'Archived').waitFor();
    await openArchive(ada);
    await deleteFromRow(ada, 'Made alone.');

    await fromRow(ada, kept, 'Pin');
    await fromRow(ada, 'Put me away.', 'Archive');
    await deleteFromRow(ada, 'Delete me.');
    rest.open();

    // The agent of the session has ended. Bob's page, which showed the session, reports this and shows another session.
    await untilNoProcess(stage.server.pid, { folder: doomedFolder });
    await bob.page.getByText('“Delete me.” was deleted.').waitFor();
    await bob.page.getByRole('main', { name: 'Start' }).waitFor();
    const look = async (person: Person) => {
      await section(person, 'Pinned').getByRole('link', { name: kept }).waitFor();
      await openArchive(person);
      await section(person, 'Archived').getByRole('link', { name: 'Put me away.' }).waitFor();
      expect(await row(person, 'Delete me.').count()).toBe(0);
      expect(await row(person, 'Put me away.').count()).toBe(1);
    };
    await look(bob);
    await lookAgain(bob);
    expect(await row(bob, 'Made alone.').count()).toBe(0);

    stage.expectComplaints(away);
    await stage.server.crash();
    await stage.server.restart();
    await ada.page.reload();
    await bob.page.goto(new URL(`/session/${id}`, bob.page.url()).href);
    await bob.page.getByText('This session could not be opened').waitFor();
    await bob.page.getByText('SESSION_NOT_FOUND').waitFor();
    await lookAgain(bob);
    await look(bob);
    expect(await row(bob, 'Made alone.').count()).toBe(0);
    expect(await untilStored(ownStore, 'Made alone.')).toBe(before);
    expect(await untilStored(ownStore, 'Delete me.')).toContain('Delete me.');

    // A message unarchives the session. The session's agent continues after its last turn.
    const back = await bob.open('Put me away.');
    await bob.page.getByText('This session is archived.').waitFor();
    await back.send('Come back.');
    await back.untilAnswer('Here I am.');
    await section(bob, 'Archived').waitFor({ state: 'detached' });
    expect(await back.prompts.allTextContents()).toEqual(['Put me away.', 'Come back.']);

    await ada.open(kept);
    await session.untilEnded(5);
    expect(await prompts()).toEqual([1, 2, 3, 4, 6].map((n) => `Question ${n}.`));
    await ada.open(`Fork of ${kept}`);
    await session.untilEnded(3);
    expect(await prompts()).toEqual([1, 2, 5].map((n) => `Question ${n}.`));
    await ask(7, 4);
    expect(lastRequest()).toEqual([...exchanges(1, 2, 5), 'Question 7.']);
    for (const title of [`Fork of ${kept}`, kept, 'Put me away.']) await deleteFromRow(bob, title);
  },
);

/** Resolves with the agent's own file of the session that contains this message. */
async function untilStored(ownStore: string, said: string): Promise<string> {
  let found: string | undefined;
  await expect
    .poll(async () => {
      const names = await readdir(join(home(), ownStore), { recursive: true });
      const files = names.filter((name) => name.endsWith('.jsonl'));
      const texts = await Promise.all(
        files.map(async (name) => readFile(join(home(), ownStore, name), 'utf8')),
      );
      return (found = texts.find((one) => one.includes(said)));
    })
    .toBeDefined();
  return found!;
}
