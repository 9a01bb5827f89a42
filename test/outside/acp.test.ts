/** Tests sessions of agents that speak ACP. An editor also uses these sessions. */
import { join } from 'node:path';
import { AcpDriver } from '@liminal/agents/acp';
import { type AgentDriver, type AgentSession, DriverProvider } from '@liminal/agents';
import { openedSessions } from '@liminal/agents/testing';
import { type EventDraft, isTerminal } from '@liminal/protocol';
import {
  type AgentScript,
  codexAcpCommand,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  startResponsesApi,
  answer,
} from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { scriptedAgent, serverStage, words } from './server-stage.ts';

const exchange = (...prompts: string[]): string[] =>
  prompts.flatMap((prompt) => [`user: ${prompt}`, `agent: You said: ${prompt}`]);

const seconds = (): number => Math.floor(Date.now() / 1_000);

/** Starts a server, and an editor that starts the same agent by itself. */
async function editorStage(projectDir: string, provide: () => AgentDriver) {
  const editors: DriverProvider[] = [];
  onTestFinished(async () => {
    await Promise.all(editors.map((one) => one.close()));
  });
  const drivers: AgentDriver[] = [];
  const sessions: AgentSession[] = [];
  const server = await serverStage(projectDir, () => {
    const driver = provide();
    drivers.push(driver);
    openedSessions(driver, sessions);
    return driver;
  });
  return Object.assign(server, {
    /** The driver of each server. */
    drivers,
    /** The sessions that the servers have opened. */
    sessions,
    /** Plays one turn in an editor. The editor is closed when the turn has ended. */
    async inEditor(sessionId: string, message: string): Promise<void> {
      // Liminal treats a change in the first two seconds after a turn as a part of this turn.
      const then = seconds();
      await expect.poll(seconds).toBeGreaterThan(then + 2);
      const editor = new DriverProvider(provide());
      editors.push(editor);
      const agentSessionId = await server.agentSession(sessionId);
      const over = new Promise<void>((resolve) => {
        editor.onTurn('here', ({ type }) => type === 'turn_complete' && resolve());
      });
      await editor.loadSession('here', { projectDir, agentSessionId });
      await editor.sendMessage('here', message);
      await over;
      await editor.close();
    },
  });
}

/** Whether each session that the servers have opened still runs. */
const alive = ({ sessions }: { sessions: AgentSession[] }): boolean[] =>
  sessions.map(({ isAlive }) => isAlive);

async function scriptedStage(script: AgentScript = {}) {
  const { projectDir, provide, control } = await scriptedAgent(script);
  return Object.assign(await editorStage(projectDir, provide), { control });
}

const names = { cliType: 'codex-acp', name: 'Codex over ACP', description: 'By its adapter.' };

async function codexStage() {
  const workspace = await makeWorkspace({});
  const api = await startResponsesApi({ script: ({ prompt }) => answer(`You said: ${prompt}`) });
  await makeCodexHome(join(workspace.home, '.codex'), api.url);
  onTestFinished(async () => {
    await api.close();
    await workspace.remove();
  });
  const inherited = codexEnvironment(workspace.home);
  const adapter = { ...names, ...codexAcpCommand(), inherited };
  return editorStage(workspace.projectDir, () => new AcpDriver(adapter));
}

type MakeStage = () => ReturnType<typeof editorStage>;

const sharing: [string, MakeStage][] = [
  ['an agent that loads', () => scriptedStage()],
  ['an agent that also resumes', () => scriptedStage({ offers: { resume: true } })],
];
const real: [string, MakeStage][] = atLength ? [['Codex', codexStage]] : [];

describe.each([...sharing, ...real])('%s', (_, makeStage) => {
  test('an editor’s turns are in history before the next message is sent, whether or not the server ran during these turns', async () => {
    const stage = await makeStage();
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One here.');
    await stage.restart();
    await stage.inEditor(sessionId, 'Two there.');

    await stage.runtime.loadSession(sessionId);
    expect((await stage.runtime.status(sessionId)).isAlive).toBe(false);
    await stage.runTurn(sessionId, 'Three here.');
    const all = exchange('One here.', 'Two there.', 'Three here.');
    expect(await stage.history(sessionId)).toEqual(all);
    const { turns } = await stage.runtime.history(sessionId);
    expect(turns.map(({ madeElsewhere }) => madeElsewhere)).toEqual([undefined, true, undefined]);

    await stage.restart();
    await stage.runTurn(sessionId, 'Four here.');
    expect(await stage.history(sessionId)).toEqual([...all, ...exchange('Four here.')]);
    expect(stage.warnings).toEqual([]);
  });

  test('if no other program uses the agent’s sessions, the agent is started only once', async () => {
    const stage = await makeStage();
    const sessionId = await stage.create();
    for (const message of ['One.', 'Two.', 'Three.']) {
      await stage.runTurn(sessionId, message);
      await stage.runtime.loadSession(sessionId);
    }
    expect(alive(stage)).toEqual([true]);
    expect(await stage.history(sessionId)).toEqual(exchange('One.', 'Two.', 'Three.'));
  });
});

/** While Codex has a session open, it locks the session. */
describe.each(atLength ? sharing : sharing.slice(0, 1))(
  '%s, open in several programs',
  (_, makeStage) => {
    test('a page that is already open gets the editor’s turn before the next message, and the running agent is restarted so that it knows this turn', async () => {
      const stage = await makeStage();
      const sessionId = await stage.create();
      await stage.runTurn(sessionId, 'One here.');
      const reader = stage.watch(sessionId);
      await reader.untilType('session:history');
      expect((await stage.runtime.status(sessionId)).isAlive).toBe(true);
      await stage.inEditor(sessionId, 'Two there.');

      await stage.runTurn(sessionId, 'Three here.');
      const all = exchange('One here.', 'Two there.', 'Three here.');
      await reader.until(({ items }) => [...items.values()].flatMap(words).length === all.length);
      expect([...reader.items.values()].flatMap(words)).toEqual(all);
      expect(await stage.history(sessionId)).toEqual(all);
      reader.close();
    });

    test('if a page is opened while the agent runs, the page shows the editor’s turn', async () => {
      const stage = await makeStage();
      const sessionId = await stage.create();
      await stage.runTurn(sessionId, 'One here.');
      await stage.inEditor(sessionId, 'Two there.');
      await stage.runtime.loadSession(sessionId);
      const all = exchange('One here.', 'Two there.');
      await expect.poll(async () => stage.history(sessionId)).toEqual(all);
      await expect.poll(async () => (await stage.runtime.status(sessionId)).isAlive).toBe(true);
      await stage.runTurn(sessionId, 'Three here.');
      expect(await stage.history(sessionId)).toEqual([...all, ...exchange('Three here.')]);
    });
  },
);

describe('an agent whose store gets a new date', () => {
  const mode = (id: string) => ({ id, name: id });
  const hour = 3_600_000;

  /**
   * Makes a session with a turn. The agent dates its store by the clock of the test, which may be ahead of Liminal's
   * clock.
   */
  async function datedStage() {
    const { control, ...stage } = await scriptedStage({
      session: { modes: { currentModeId: 'ask', availableModes: [mode('ask'), mode('code')] } },
    });
    const [server] = stage.drivers;
    const clock = { now: Date.now(), onTurnEnd: () => {} };
    const open = server!.open.bind(server);
    vi.spyOn(server!, 'open').mockImplementation(async ({ output, ...opening }) => {
      const emit = (draft: EventDraft): void => {
        output.emit(draft);
        if (isTerminal(draft.payload)) clock.onTurnEnd();
      };
      return open({ ...opening, output: { ...output, emit } });
    });
    vi.spyOn(server!, 'storedMark').mockImplementation(async () =>
      new Date(clock.now).toISOString(),
    );
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One.');
    return Object.assign(stage, { control, sessionId, clock });
  }

  test('if the date changes shortly after a turn or a setting of Liminal, the agent keeps running, and its store is not read', async () => {
    const stage = await datedStage();
    const { runTurn: say, sessionId, runtime, control, history, clock } = stage;
    const late = (): void => void (clock.now = Date.now() + 1_000);
    clock.onTurnEnd = late;
    const [session] = stage.sessions;
    const set = session!.setConfigOption!.bind(session);
    vi.spyOn(session!, 'setConfigOption').mockImplementation(async (...change) => {
      await set(...change);
      late();
    });
    await say(sessionId, 'Two.');
    await runtime.setConfig(sessionId, 'mode', 'code');
    await say(sessionId, 'Three.');
    await say(sessionId, 'Four.');
    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.', 'Three.', 'Four.'));
    expect(alive(stage)).toEqual([true]);
    expect(control.processes).toHaveLength(1);
  });

  test('if the store has no new turns, the agent keeps running, and an editor’s later turns are still found', async () => {
    const stage = await datedStage();
    const { runTurn: say, sessionId, inEditor, control, history, clock } = stage;
    clock.now += hour;
    await say(sessionId, 'Two.');
    expect(alive(stage)).toEqual([true]);
    expect(control.processes).toHaveLength(2);

    clock.now += hour;
    await inEditor(sessionId, 'Three there.');
    await say(sessionId, 'Four.');

    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.', 'Three there.', 'Four.'));
    expect(alive(stage)).toEqual([false, true]);
    expect(stage.warnings).toEqual([]);
  });

  test('if no second process of the agent can start, the agent keeps running with its memory', async () => {
    const stage = await datedStage();
    const { runTurn: say, sessionId, control, history, clock } = stage;
    await control.play({ onStart: [{ exit: { code: 1 } }] });
    clock.now += hour;

    await say(sessionId, 'Two.');

    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.'));
    expect(alive(stage)).toEqual([true]);
    expect(stage.warnings).toEqual([expect.stringContaining('could not be imported')]);
  });
});
