import { byPrompt, reply, toolUse } from '@liminal/testkit';
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { length } from './length.ts';
import type { SessionReader } from './session-reader.ts';
import { FaultServer } from './server.ts';
import { stubborn, type Way } from './stubborn.ts';

/**
 * A server whose agent is in the middle of a turn. The agent has started processes of every kind that is hard to end.
 */
class Scene {
  readonly faults: FaultServer;
  readonly sessionId: string;
  readonly turnId: string;
  readonly reader: SessionReader;
  readonly programs: ReadonlyMap<Way, string>;

  private constructor(
    parts: Pick<Scene, 'faults' | 'sessionId' | 'turnId' | 'reader' | 'programs'>,
  ) {
    this.faults = parts.faults;
    this.sessionId = parts.sessionId;
    this.turnId = parts.turnId;
    this.reader = parts.reader;
    this.programs = parts.programs;
  }

  static async set(faults: FaultServer, sessionId: string): Promise<Scene> {
    const { command, programs } = stubborn();
    faults.api.play(
      byPrompt({
        'Start them.': [reply(toolUse('Bash', { command })), reply('They run.')],
        'Go on.': [reply('Here I am.')],
      }),
    );
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Start them.');
    const scene = new Scene({ faults, sessionId, turnId, reader, programs });
    const { approvalId } = await reader.approval(turnId);
    await faults.requests.answerApproval(sessionId, approvalId, { optionId: 'allow_once' });
    await expect.poll(() => scene.running, { timeout: 60_000 }).toEqual([...programs.keys()]);
    return scene;
  }

  /** Returns the kinds of stubborn processes of which a process runs now. */
  get running(): Way[] {
    const commands = this.faults.census.take().map(({ command }) => command);
    return [...this.programs.keys()].filter((way) => commands.includes(this.programs.get(way)!));
  }

  /** Returns the agent's answer to the next message. If needed, a new process of the agent is started. */
  async resumeSession(): Promise<string> {
    const reader = await this.faults.follow(this.sessionId);
    const { turnId } = await this.faults.requests.send(this.sessionId, 'Go on.');
    await reader.ended(turnId);
    return reader.agentText(turnId);
  }
}

/** The ways to end a turn. Each way must end all processes of the agent. */
const ends = {
  'ending the session': async ({ faults, sessionId, reader, turnId }: Scene) => {
    await faults.requests.kill(sessionId);
    expect(faults.others).toEqual([]);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'aborted' });
  },
  'ending the session of an agent that hangs': async ({
    faults,
    sessionId,
    reader,
    turnId,
  }: Scene) => {
    process.kill(faults.agentPid(sessionId), 'SIGSTOP');
    await faults.requests.kill(sessionId);
    expect(faults.others).toEqual([]);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'aborted' });
  },
  'a crash of the agent': async ({ faults, sessionId, reader, turnId }: Scene) => {
    process.kill(faults.agentPid(sessionId), 'SIGKILL');
    const crash = { status: 'error', error: { code: 'PROCESS_CRASH' } };
    expect(await reader.ended(turnId)).toMatchObject(crash);
    await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);
  },
  'a crash of the agent, and an orderly end of the server while another runs': async (
    scene: Scene,
  ) => {
    const { server, census } = scene.faults;
    process.kill(scene.faults.agentPid(scene.sessionId), 'SIGKILL');
    await scene.reader.ended(scene.turnId);
    await scene.resumeSession();
    // No process of the first agent may have run at the same time as the second agent.
    expect(scene.faults.others).toHaveLength(1);
    expect(await server.stop()).toBe(0);
    expect(census.take()).toEqual([]);
    await server.restart();
  },
  'a crash of the server': async ({ faults }: Scene) => {
    await faults.server.crash();
    await faults.census.untilEmpty();
    await faults.server.restart();
  },
  'a crash of the server and of its guard, and a restart': async (scene: Scene) => {
    const { server, guardPid } = scene.faults;
    process.kill(guardPid, 'SIGKILL');
    await server.crash();
    expect(scene.running).toContain('a daemon by a double fork');
    await server.restart();
    expect(scene.faults.others).toEqual([]);
  },
  'an orderly end of the server': async ({ faults }: Scene) => {
    expect(await faults.server.stop()).toBe(0);
    expect(faults.census.take()).toEqual([]);
    await faults.server.restart();
  },
};

const rounds = Array.from({ length: length.ends }, (_, round) => round + 1);
type End = keyof typeof ends;
/**
 * In long runs, each way is tested several times, in a session of its own. In short runs, two ways are tested in one
 * session.
 */
const stories: [all: End[], round: number][] = atLength
  ? (Object.keys(ends) as End[]).flatMap((name) => rounds.map((round) => [[name], round] as const))
  : [[['ending the session', 'a crash of the server'], 1]];

test.each(stories)(
  'INV-8 after %j, no process of the agent is left, and the session continues (%i)',
  async (all) => {
    const faults = await FaultServer.start();
    const sessionId = await faults.create();
    for (const name of all) {
      const scene = await Scene.set(faults, sessionId);
      await ends[name](scene);
      expect(await scene.resumeSession()).toBe('Here I am.');
    }
  },
);
