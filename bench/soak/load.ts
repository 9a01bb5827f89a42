import { once } from 'node:events';
import type { ServerMessage } from '@liminal/protocol';
import type { Pace } from './pace.ts';
import { type Project, SoakSession } from './soak-session.ts';

/**
 * The messages of a session that runs for the whole duration; after the last message, the session starts again with the
 * first.
 */
const round = ['work', 'say', 'work', 'ask', 'work', 'say', 'run', 'work', 'say', 'hold'];
/** The number of turns of a short session. */
const turns = 5;
/** The number of turns of a session of Claude Code. Each request to its model contains all earlier turns. */
const claudeTurns = 20;
const demoScenes = ['fix', 'plan', 'explain', 'build', 'approve'];
const pages = 3;

export interface Counts {
  turns: number;
  connects: number;
  errors: number;
}

interface LoadOptions {
  project: Project;
  /** The pace at which turns begin, and the pace at which visitors come. */
  turnPace: Pace;
  visitPace: Pace;
  claudePace: Pace;
  onError: (error: unknown) => void;
}

/** Users who work on one server at the same time, until their pace ends. */
export class Load {
  readonly counts: Counts = { turns: 0, connects: 0, errors: 0 };
  readonly #options: LoadOptions;
  /** The sessions that visitors read, each with the cursor of the last visit. */
  readonly #shown = new Map<string, string | undefined>();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Runs the load; resolves when all users have left. */
  async run(): Promise<void> {
    const { turnPace, visitPace, claudePace } = this.#options;
    await Promise.all([
      this.#repeat(turnPace, async () => this.#talkOn()),
      this.#repeat(turnPace, async () => this.#talkOn()),
      this.#repeat(turnPace, async () => this.#comeAndGo()),
      this.#repeat(turnPace, async () => this.#comeAndGo()),
      this.#repeat(turnPace, async () => this.#playDemo()),
      this.#repeat(claudePace, async () => this.#talkToClaude()),
      this.#repeat(visitPace, async () => visitPace.do(async () => this.#visit())),
      this.#repeat(visitPace, async () => visitPace.do(async () => this.#visit())),
    ]);
  }

  /** Repeats `act` until the pace ends. An error is counted, and does not end the repetition. */
  async #repeat(pace: Pace, act: () => Promise<void>): Promise<void> {
    while (!pace.isOver) {
      try {
        await act();
      } catch (error) {
        this.counts.errors += 1;
        this.#options.onError(error);
      }
    }
  }

  /** Runs one session with one agent process for the whole duration. */
  async #talkOn(): Promise<void> {
    const talk = await this.#begin('soak');
    this.#shown.set(talk.sessionId, undefined);
    for (let turn = 0; !this.#options.turnPace.isOver; turn += 1) {
      await this.#sendTurn(talk, this.#options.turnPace, round[turn % round.length]);
    }
    await this.#end(talk);
  }

  /** Runs a session that is closed, opened again, and closed. */
  async #comeAndGo(): Promise<void> {
    const talk = await this.#begin('soak');
    this.#shown.set(talk.sessionId, undefined);
    for (const word of round.slice(0, turns))
      await this.#sendTurn(talk, this.#options.turnPace, word);
    await this.#options.turnPace.do(async () => {
      await talk.end();
      await talk.load();
    });
    await this.#sendTurn(talk, this.#options.turnPace, 'work');
    await this.#end(talk);
  }

  async #playDemo(): Promise<void> {
    const talk = await this.#begin('demo', { configOptions: { pace: 'instant' } });
    for (const word of demoScenes) await this.#sendTurn(talk, this.#options.turnPace, word);
    await this.#end(talk);
  }

  async #talkToClaude(): Promise<void> {
    const { claudePace } = this.#options;
    const talk = await this.#begin('claude-code');
    for (let turn = 0; turn < claudeTurns && !claudePace.isOver; turn += 1) {
      await this.#sendTurn(talk, claudePace, 'say');
    }
    await this.#end(talk);
  }

  async #sendTurn(talk: SoakSession, pace: Pace, word = ''): Promise<void> {
    await pace.do(async () => talk.sendTurn(`${word} the ${this.counts.turns}. thing`));
    this.counts.turns += 1;
  }

  async #begin(cliType: string, options: object = {}): Promise<SoakSession> {
    const { project, turnPace } = this.#options;
    return turnPace.do(async () => SoakSession.begin(project, cliType, options));
  }

  async #end(talk: SoakSession): Promise<void> {
    await this.#options.turnPace.do(async () => {
      this.#shown.delete(talk.sessionId);
      await talk.end();
    });
  }

  /** Visits the page: lists the sessions, reads one session from its end towards its start, searches, and leaves. */
  async #visit(): Promise<void> {
    const { connection, projectDir } = this.#options.project;
    const visits = this.counts.connects;
    this.counts.connects += 1;
    const sessionId = [...this.#shown.keys()].at(visits % Math.max(1, this.#shown.size));
    if (sessionId === undefined) return;
    let cursor = this.#shown.get(sessionId);
    const take = (message: ServerMessage): void => {
      if ('cursor' in message) cursor = message.cursor;
    };
    const socket = await connection.follow(sessionId, take, visits % 3 === 0 ? undefined : cursor);
    socket.send(JSON.stringify({ type: 'sessions:subscribe' }));
    await connection.get(`session/list?projectId=${encodeURIComponent(projectDir)}`);
    await this.#readBack(sessionId);
    if (visits % 5 === 0) await connection.get('search?q=loader%20file');
    if (visits % 10 === 0) await connection.get('projects');
    const closed = once(socket, 'close');
    socket.close();
    await closed;
    if (this.#shown.has(sessionId)) this.#shown.set(sessionId, cursor);
  }

  async #readBack(sessionId: string): Promise<void> {
    const { connection } = this.#options.project;
    let before = '';
    for (let page = 0; page < pages; page += 1) {
      const from = before === '' ? '' : `&before=${encodeURIComponent(before)}`;
      const got = await connection.get(`session/${sessionId}/history?limit=50${from}`);
      if (typeof got['before'] !== 'string') return;
      before = got['before'];
    }
  }
}
