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
const away = /WebSocket connection to|Failed to load resource|ERR_/;

interface Agent {
  agent: string;
  /** What its model answers; a gate is in the midst of the answer to `Delete me.` */
  play: (rest: Gate) => void;
  /** Makes a session without Liminal. */
  alone: (prompt: string, folder: string) => Promise<unknown>;
  /** Where it keeps its sessions, below the home folder. */
  ownStore: string;
}

const home = () => stage.env['HOME'] ?? '';

const agents: Agent[] = [
  {
    agent: 'Claude Code',
    play: (rest) =>
      stage.api.play(
        byPrompt({
          'Keep me.': [reply('Kept.')],
          'Put me away.': [reply('Put.')],
          'Delete me.': [reply(text(['Not yet,', rest, ' now.']))],
          'Come back.': [reply('Here I am.')],
          'Made alone.': [reply('Alone.')],
        }),
      ),
    alone: async (prompt, folder) => runClaudeAlone(prompt, { folder, env: stage.env }),
    ownStore: '.claude/projects',
  },
  {
    agent: 'Codex',
    play: (rest) =>
      stage.codexApi.play(
        byModelPrompt({
          'Keep me.': [answer('Kept.')],
          'Put me away.': [answer('Put.')],
          'Delete me.': [answer(message(['Not yet,', rest, ' now.']))],
          'Come back.': [answer('Here I am.')],
          'Made alone.': [answer('Alone.')],
        }),
      ),
    alone: async (prompt, folder) => runCodexAlone(prompt, { folder, home: home() }),
    ownStore: '.codex/sessions',
  },
];

const section = (person: Person, name: string) => person.sidebar.getByRole('region', { name });
const row = (person: Person, title: string) => person.sidebar.getByRole('link', { name: title });

/** Does something with a session of the list, by its menu. */
async function fromRow(person: Person, title: string, item: string): Promise<void> {
  await row(person, title).first().click({ button: 'right' });
  await person.page.getByRole('menuitem', { name: item, exact: true }).click();
}

async function deleteFromRow(person: Person, title: string): Promise<void> {
  await fromRow(person, title, 'Delete …');
  const dialog = person.page.getByRole('dialog', { name: 'Delete this session?' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(person, title).waitFor({ state: 'detached' });
}

async function openArchive(person: Person): Promise<void> {
  await person.sidebar.getByRole('button', { name: /^Archived/ }).click();
}

test.each(agents)(
  'sessions of $agent are pinned, archived and deleted for everyone, and still after a restart',
  async ({ agent, play, ownStore }) => {
    const rest = gate();
    play(rest);
    const folder = await stage.project(`kept-${agent}`);
    const doomedFolder = await stage.project(`deleted-${agent}`);
    const [ada, bob] = [await stage.person(), await stage.person()];
    const kept = await ada.startSession({ folder, agent });
    await kept.send('Keep me.');
    await kept.untilEnded(1);
    const put = await ada.startSession({ folder, agent });
    await put.send('Put me away.');
    await put.untilEnded(1);
    const doomed = await ada.startSession({ folder: doomedFolder, agent });
    await doomed.send('Delete me.');
    await doomed.untilSaid(/^Not yet,$/);
    await doomed.send('Never said.');
    const { id } = doomed;
    await bob.open('Delete me.');
    await bob.page.getByRole('list', { name: 'Queued messages' }).waitFor();

    await fromRow(ada, 'Keep me.', 'Pin');
    await fromRow(ada, 'Put me away.', 'Archive');
    await deleteFromRow(ada, 'Delete me.');
    rest.open();

    // Its agent is gone, and Bob's page, which showed it, says so and shows another.
    await untilNoProcess(stage.server.pid, { folder: doomedFolder });
    await bob.page.getByText('“Delete me.” was deleted.').waitFor();
    await bob.page.getByRole('main', { name: 'Start' }).waitFor();
    const look = async (person: Person) => {
      await section(person, 'Pinned').getByRole('link', { name: 'Keep me.' }).waitFor();
      await openArchive(person);
      await section(person, 'Archived').getByRole('link', { name: 'Put me away.' }).waitFor();
      expect(await row(person, 'Delete me.').count()).toBe(0);
      expect(await row(person, 'Put me away.').count()).toBe(1);
    };
    await look(bob);

    stage.expectComplaints(away);
    await stage.server.crash();
    await stage.server.restart();
    const eve = await stage.person();
    if (agent === 'Codex') await eve.lookForSessions(agent);
    await look(eve);
    await eve.page.goto(new URL(`/session/${id}`, eve.page.url()).href);
    await eve.page.getByText('This session could not be opened').waitFor();
    await eve.page.getByText('SESSION_NOT_FOUND').waitFor();
    expect(await untilKept(ownStore, 'Delete me.')).toContain('Delete me.');

    // A message brings the archived one back; its agent goes on where it was.
    await openArchive(eve);
    const back = await eve.open('Put me away.');
    await eve.page.getByText('This session is archived.').waitFor();
    await back.send('Come back.');
    await back.untilSaid('Here I am.');
    await section(eve, 'Archived').waitFor({ state: 'detached' });
    expect(await back.prompts.allInnerTexts()).toEqual(['Put me away.', 'Come back.']);
    for (const title of ['Keep me.', 'Put me away.']) await deleteFromRow(eve, title);
  },
);

test.each(agents)(
  'a session that $agent made alone is archived and deleted without being opened, and its own store is left alone',
  async ({ agent, play, alone, ownStore }) => {
    play(gate());
    const folder = await stage.project(`alone-${agent}`);
    await alone('Made alone.', folder);
    const before = await untilKept(ownStore, 'Made alone.');
    const ada = await stage.person();
    const lookAgain = async () =>
      agent === 'Codex' ? ada.lookForSessions(agent) : ada.lookAgain();
    await lookAgain();
    await fromRow(ada, 'Made alone.', 'Archive');
    await section(ada, 'Archived').waitFor();
    await ada.page.reload();
    await openArchive(ada);
    const session = await ada.open('Made alone.');
    await session.untilSaid('Alone.');
    await deleteFromRow(ada, 'Made alone.');
    await lookAgain();
    await ada.page.reload();
    await ada.sidebar.waitFor();
    expect(await row(ada, 'Made alone.').count()).toBe(0);
    stage.expectComplaints(away);
    await stage.server.crash();
    await stage.server.restart();
    await ada.page.reload();
    await lookAgain();
    expect(await row(ada, 'Made alone.').count()).toBe(0);
    expect(await untilKept(ownStore, 'Made alone.')).toBe(before);
  },
);

/** The agent's own file of the session in which that was said. */
async function untilKept(ownStore: string, said: string): Promise<string> {
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
