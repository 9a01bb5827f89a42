import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type LiminalClient, type Requests } from '@liminal/client';
import { expect } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { type RawAnswer, rawRequest } from '../../packages/server/test/raw-request.ts';
import { LiminalServer } from '../e2e/server.ts';
import { SessionReader } from './session-reader.ts';

/** A request in the form in which it is sent. */
export interface Wire {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

export interface InputStageOptions {
  /** Settings in `liminal.json` that are added to the allowed root. */
  config?: Record<string, unknown>;
  /** Options for Node. They come before the program. */
  nodeArgs?: readonly string[];
  /** Additional environment variables of the server. `root` is a folder that only the stage uses. */
  env?: (root: string) => Record<string, string>;
}

/** One real server for all tests of a file. Its session has one turn, and must not change. */
export class InputStage {
  readonly server: LiminalServer;
  readonly project: string;
  /** The folder that contains the project, the home folder and the data folder. */
  readonly root: string;
  readonly #client: LiminalClient;
  sessionId = '';
  runId = '';
  /** The state of the session. It must not change. */
  #whole: unknown;

  private constructor(server: LiminalServer, root: string, project: string) {
    this.server = server;
    this.root = root;
    this.project = project;
    this.#client = createClient({ baseUrl: server.origin, token: server.token });
  }

  static async start(options: InputStageOptions = {}): Promise<InputStage> {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-input-')));
    const [project, dataDir] = [join(root, 'project'), join(root, 'data')];
    for (const folder of [project, dataDir]) await mkdir(folder);
    await writeFile(
      join(dataDir, 'liminal.json'),
      JSON.stringify({ roots: [project], ...options.config }),
    );
    const env = { PATH: process.env['PATH'] ?? '', HOME: root, ...options.env?.(root) };
    const { nodeArgs = [] } = options;
    const server = await LiminalServer.start({ dataDir, env, nodeArgs });
    const stage = new InputStage(server, root, project);
    stage.sessionId = await stage.create();
    stage.runId = await stage.play(stage.sessionId, 'explain');
    stage.#whole = await stage.#look();
    return stage;
  }

  get port(): number {
    return Number(new URL(this.server.origin).port);
  }

  get requests(): Requests {
    return this.#client.requests;
  }

  /** Headers with which a request is authorised and its body is declared as JSON. */
  get headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.server.token}`,
      'content-type': 'application/json',
    };
  }

  async ask({ method, path, headers, body }: Wire): Promise<RawAnswer> {
    return rawRequest(this.port, { method, path, headers, ...(body !== undefined && { body }) });
  }

  /** Creates a session of the demo, which answers at once. */
  async create(): Promise<string> {
    const options = { configOptions: { pace: 'instant' } };
    const made = { cliType: 'demo', projectDir: this.project, options };
    return (await this.requests.createSession(made)).sessionId;
  }

  async follow(sessionId: string): Promise<SessionReader> {
    return SessionReader.open(new Connection(this.server.origin, this.server.token), sessionId);
  }

  /** Sends a message and waits for the end of the message's turn. Returns the turn's id. */
  async play(sessionId: string, message: string): Promise<string> {
    const reader = await this.follow(sessionId);
    const { turnId } = await this.requests.send(sessionId, message);
    expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
    reader.close();
    return turnId;
  }

  /**
   * Fails if the session has changed, if new sessions no longer accept messages, or if the server has logged a problem.
   */
  async assertUnharmed(): Promise<void> {
    expect(await this.#look()).toEqual(this.#whole);
    await this.play(await this.create(), 'explain');
    expect(this.server.log).toBe(`Liminal is at ${this.server.printedLink}\n`);
  }

  async end(): Promise<void> {
    this.#client.close();
    expect(await this.server.stop()).toBe(0);
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /**
   * Returns the session's state. The state leaves out whether the agent still runs, because only a few idle agents are
   * kept running.
   */
  async #look(): Promise<unknown> {
    const { entries, turns } = await this.requests.history(this.sessionId);
    const sessions = (await this.requests.listProjects()).flatMap((project) => project.sessions);
    const session = sessions.find(({ sessionId }) => sessionId === this.sessionId);
    return {
      entries: entries.map((entry) => ({ ...entry, emittedAt: '' })),
      turns,
      session: { ...session, isAlive: undefined },
    };
  }
}
