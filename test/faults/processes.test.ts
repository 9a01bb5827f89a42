import { byPrompt, reply, toolUse } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { length } from './length.ts';
import type { Reader } from './reader.ts';
import { FaultServer } from './server.ts';
import { stubborn, type Way } from './stubborn.ts';

/** A server whose agent is in the middle of a turn, and has started everything that is hard to end. */
class Scene {
  readonly faults: FaultServer;
  readonly sessionId: string;
  readonly turnId: string;
  readonly reader: Reader;
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

  static async set(): Promise<Scene> {
    const { command, programs } = stubborn();
    const script = byPrompt({
      'Start them.': [reply(toolUse('Bash', { command })), reply('They run.')],
      'Go on.': [reply('Here I am.')],
    });
    const faults = await FaultServer.start({ script });
    const sessionId = await faults.create();
    const reader = await faults.follow(sessionId);
    const { turnId } = await faults.requests.send(sessionId, 'Start them.');
    const scene = new Scene({ faults, sessionId, turnId, reader, programs });
    const { approvalId } = await reader.approval(turnId);
    await faults.requests.answerApproval(sessionId, approvalId, 'allow_once');
    await expect.poll(() => scene.running, { timeout: 60_000 }).toEqual([...programs.keys()]);
    return scene;
  }

  /** Which of those that are hard to end run. */
  get running(): Way[] {
    const commands = this.faults.census.take().map(({ command }) => command);
    return [...this.programs.keys()].filter((way) => commands.includes(this.programs.get(way)!));
  }

  /** Everything but the server itself and its guard. */
  get others(): string[] {
    const { pid } = this.faults.server;
    return this.faults.census
      .take()
      .filter((entry) => entry.pid !== pid && !entry.command.includes(`guard.sh ${pid}.`))
      .map(({ command }) => command);
  }

  get agentPid(): number {
    return this.#pidOf(`--session-id=${this.sessionId}`);
  }

  get guardPid(): number {
    return this.#pidOf(`guard.sh ${this.faults.server.pid}.`);
  }

  /** What the agent answers to the next message, by another process if need be. */
  async goOn(): Promise<string> {
    const reader = await this.faults.follow(this.sessionId);
    const { turnId } = await this.faults.requests.send(this.sessionId, 'Go on.');
    await reader.ended(turnId);
    return reader.said(turnId);
  }

  #pidOf(word: string): number {
    const [entry] = this.faults.census.withCommand(word);
    if (entry === undefined) throw new Error(`No process has ${word} in its command.`);
    return entry.pid;
  }
}

/** What each way of ending has ended when it is over. */
const ends: Record<string, (scene: Scene) => Promise<void>> = {
  'ending the session': async (scene) => {
    await scene.faults.requests.kill(scene.sessionId);
    expect(scene.others).toEqual([]);
    expect(await scene.reader.ended(scene.turnId)).toMatchObject({ status: 'aborted' });
  },
  'ending the session of an agent that hangs': async (scene) => {
    process.kill(scene.agentPid, 'SIGSTOP');
    await scene.faults.requests.kill(scene.sessionId);
    expect(scene.others).toEqual([]);
    expect(await scene.reader.ended(scene.turnId)).toMatchObject({ status: 'aborted' });
  },
  'a crash of the agent': async (scene) => {
    process.kill(scene.agentPid, 'SIGKILL');
    const crash = { status: 'error', error: { code: 'PROCESS_CRASH' } };
    expect(await scene.reader.ended(scene.turnId)).toMatchObject(crash);
    await expect.poll(() => scene.others, { timeout: 30_000 }).toEqual([]);
  },
  'a crash of the server': async ({ faults }) => {
    await faults.server.crash();
    await faults.census.untilEmpty();
    await faults.server.restart();
  },
  'a crash of the server and of its guard, and a restart': async (scene) => {
    process.kill(scene.guardPid, 'SIGKILL');
    await scene.faults.server.crash();
    expect(scene.running).toContain('a daemon by a double fork');
    await scene.faults.server.restart();
    expect(scene.others).toEqual([]);
  },
  'an orderly end of the server': async ({ faults }) => {
    expect(await faults.server.stop()).toBe(0);
    expect(faults.census.take()).toEqual([]);
    await faults.server.restart();
  },
};

const rounds = Array.from({ length: length.ends }, (_, round) => round + 1);
const cases = Object.entries(ends).flatMap(([name, end]) =>
  rounds.map((round) => ({ name, end, round })),
);

test.each(cases)(
  'INV-8 $name leaves nothing of what an agent has started, and the session goes on ($round)',
  async ({ end }) => {
    const scene = await Scene.set();
    await end(scene);
    expect(await scene.goOn()).toBe('Here I am.');
  },
);
