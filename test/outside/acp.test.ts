/** Tests sessions of agents that speak ACP. An editor also uses these sessions. */
import { join } from 'node:path';
import { AcpProvider } from '@liminal/agents/acp';
import type { CliProvider } from '@liminal/agents';
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

/** A server, and an editor that starts the same agent by itself. */
async function editorStage(projectDir: string, provide: () => CliProvider) {
  const providers: CliProvider[] = [];
  onTestFinished(async () => {
    await Promise.all(providers.map((one) => one.close()));
  });
  const another = (): CliProvider => {
    const made = provide();
    providers.push(made);
    return made;
  };
  const server = await serverStage(projectDir, another);
  return Object.assign(server, {
    /** The provider of the server, and then the providers of the editors. */
    providers,
    /** Plays one turn in an editor. The editor is closed when the turn has ended. */
    async inEditor(sessionId: string, message: string): Promise<void> {
      // Liminal treats a change in the first two seconds after a turn as a part of this turn.
      const then = seconds();
      await expect.poll(seconds).toBeGreaterThan(then + 2);
      const editor = another();
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
  return editorStage(workspace.projectDir, () => new AcpProvider(adapter));
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
    const [server] = stage.providers;
    const sessionId = await stage.create();
    const kill = vi.spyOn(server!, 'killSession');
    for (const message of ['One.', 'Two.', 'Three.']) {
      await stage.runTurn(sessionId, message);
      await stage.runtime.loadSession(sessionId);
    }
    expect(kill).not.toHaveBeenCalled();
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
    const [server] = stage.providers;
    const kill = vi.spyOn(server!, 'killSession');
    const clock = { now: Date.now() };
    vi.spyOn(server!, 'storedMark').mockImplementation(async () =>
      new Date(clock.now).toISOString(),
    );
    const sessionId = await stage.create();
    await stage.runTurn(sessionId, 'One.');
    return Object.assign(stage, { control, kill, sessionId, clock });
  }

  test('if the date changes shortly after a turn or a setting of Liminal, the agent keeps running, and its store is not read', async () => {
    const {
      runTurn: say,
      sessionId,
      kill,
      runtime,
      providers,
      control,
      history,
      clock,
    } = await datedStage();
    const [server] = providers;
    const late = (): void => void (clock.now = Date.now() + 1_000);
    server!.onTurn(sessionId, ({ type }) => type === 'turn_complete' && late());
    const set = server!.setConfigOption!.bind(server);
    vi.spyOn(server!, 'setConfigOption').mockImplementation(async (...change) => {
      await set(...change);
      late();
    });
    await say(sessionId, 'Two.');
    await runtime.setConfig(sessionId, 'mode', 'code');
    await say(sessionId, 'Three.');
    await say(sessionId, 'Four.');
    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.', 'Three.', 'Four.'));
    expect(kill).not.toHaveBeenCalled();
    expect(control.processes).toHaveLength(1);
  });

  test('if the store has no new turns, the agent keeps running, and an editor’s later turns are still found', async () => {
    const stage = await datedStage();
    const { runTurn: say, sessionId, kill, inEditor, control, history, clock } = stage;
    clock.now += hour;
    await say(sessionId, 'Two.');
    expect(kill).not.toHaveBeenCalled();
    expect(control.processes).toHaveLength(2);

    clock.now += hour;
    await inEditor(sessionId, 'Three there.');
    await say(sessionId, 'Four.');

    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.', 'Three there.', 'Four.'));
    expect(kill).toHaveBeenCalledOnce();
    expect(stage.warnings).toEqual([]);
  });

  test('if no second process of the agent can start, the agent keeps running with its memory', async () => {
    const stage = await datedStage();
    const { runTurn: say, sessionId, kill, control, history, clock } = stage;
    await control.play({ onStart: [{ exit: { code: 1 } }] });
    clock.now += hour;

    await say(sessionId, 'Two.');

    expect(await history(sessionId)).toEqual(exchange('One.', 'Two.'));
    expect(kill).not.toHaveBeenCalled();
    expect(stage.warnings).toEqual([expect.stringContaining('could not be imported')]);
  });
});
