import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Response as RunResponse } from '@liminal/protocol';
import { createRequests, type Requests } from '@liminal/client';
import {
  claudeEnvironment,
  type MessagesApi,
  type Script,
  startMessagesApi,
} from '@liminal/testkit';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { Connection } from '../../bench/parts/connection.ts';
import { LiminalServer } from '../e2e/server.ts';
import { Census } from './census.ts';
import type { Entry } from './process-table.ts';
import { SessionReader } from './session-reader.ts';

export interface FaultServerOptions {
  /** The answers of the model behind Claude Code. By default there are none. */
  script?: Script;
  /** Settings in `liminal.json` that are added to the allowed root. */
  config?: Record<string, unknown>;
  /** Additional environment variables of the server. */
  env?: Record<string, string>;
  /** The program of the command line. The default is the program in the repository. */
  program?: string;
  /** Whether the server writes its log into a file in its data folder. By default, the log goes to a pipe. */
  logsToFile?: boolean;
}

/** The folders of one test. All of them are below one folder that only this test uses. */
interface Folders {
  root: string;
  home: string;
  project: string;
  dataDir: string;
}

/**
 * The whole server in its own process, with the real Claude Code on a scripted model. A test can crash, stop and
 * restart `server` on the same data folder and port.
 */
export class FaultServer {
  readonly folders: Folders;
  readonly api: MessagesApi;
  readonly server: LiminalServer;
  /**
   * Commands and queries over HTTP. Each method rejects with `ApiError`. The error's `code` is the code that the
   * server sent.
   */
  readonly requests: Requests;
  /** The processes that belong to this test. */
  readonly census: Census;
  readonly #readers: SessionReader[] = [];

  private constructor(folders: Folders, api: MessagesApi, server: LiminalServer, census: Census) {
    this.folders = folders;
    this.api = api;
    this.server = server;
    this.census = census;
    this.requests = createRequests({ baseUrl: server.origin, token: server.token });
  }

  /**
   * Starts the server and everything that it needs. The server ends with the test, unless an `onFinished` function is
   * given.
   */
  static async start(
    options: FaultServerOptions = {},
    atEnd: (step: () => Promise<void>) => void = onTestFinished,
  ): Promise<FaultServer> {
    const folders = await makeFolders(options.config);
    const { root, home, dataDir } = folders;
    const census = new Census([root]);
    atEnd(async () => {
      await census.endAll();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    });
    const api = await startMessagesApi({ script: options.script ?? [] });
    atEnd(() => api.close());
    const env = { ...claudeEnvironment(home, api.url), ...options.env };
    const { program, logsToFile } = options;
    const server = await LiminalServer.start({
      dataDir,
      env,
      ...(program && { program }),
      ...(logsToFile && { logFile: join(dataDir, 'server.log') }),
    });
    const started = new FaultServer(folders, api, server, census);
    atEnd(() => started.#end());
    return started;
  }

  /** Begins a session of Claude Code, or of another agent, in the project folder. Returns the session's id. */
  async create(cliType = 'claude-code'): Promise<string> {
    const { sessionId } = await this.requests.createSession({
      cliType,
      projectDir: this.folders.project,
    });
    return sessionId;
  }

  /** Returns a stored run, or the part of a running run that exists so far. */
  async run(runId: string): Promise<RunResponse> {
    const headers = { authorization: `Bearer ${this.server.token}` };
    const answer = await fetch(`${this.server.origin}/api/run/${runId}`, { headers });
    return RunResponse.parse(await answer.json());
  }

  /** Returns the process in which a session's agent runs. */
  agentPid(sessionId: string): number {
    const agents = this.census.withCommand(sessionId);
    const agent = agents.find(({ parent }) => parent === this.server.pid);
    if (agent === undefined) throw new Error(`No agent runs for the session ${sessionId}.`);
    return agent.pid;
  }

  /** Returns the guard: the process that ends remaining processes when the server has ended. */
  get guardPid(): number {
    return this.#guardAmong(this.census.take()).pid;
  }

  /** Returns the commands of all processes except the server and its guard. */
  get others(): string[] {
    const all = this.census.take();
    const own = [this.server.pid, this.#guardAmong(all).pid];
    return all.filter(({ pid }) => !own.includes(pid)).map(({ command }) => command);
  }

  #guardAmong(all: readonly Entry[]): Entry {
    const guard = all.find(({ command }) => command.includes(`guard.sh ${this.server.pid}.`));
    if (guard === undefined) throw new Error('The server has no guard.');
    return guard;
  }

  /** Resolves when Claude Code has written the text into its own store. Claude Code does this after a short delay. */
  async untilStored(sessionId: string, text: string): Promise<void> {
    const folder = join(this.folders.home, '.claude', 'projects');
    const stored = async () => {
      const files = await readdir(folder, { recursive: true }).catch(() => []);
      const name = files.find((file) => file.endsWith(`${sessionId}.jsonl`));
      return name === undefined ? '' : readFile(join(folder, name), 'utf8');
    };
    await expect.poll(stored, { timeout: 30_000 }).toContain(text);
  }

  /** Watches a session from its history on, with deltas. */
  async follow(sessionId: string): Promise<SessionReader> {
    const connection = new Connection(this.server.origin, this.server.token);
    const reader = await SessionReader.open(connection, sessionId);
    this.#readers.push(reader);
    return reader;
  }

  /** Stops the server. Checks that no process is left, whatever happened before (invariant 8). */
  async #end(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    // The server stopped in an orderly way, or the test had sent the signal that ended it.
    expect([0, null], this.server.log).toContain(await this.server.stop());
    await this.census.untilEmpty();
  }
}

/** Starts a server with a session of Claude Code. All tests of the calling file share this server. */
export function shareServer(set: () => Promise<FaultServerOptions> | FaultServerOptions): {
  readonly faults: FaultServer;
  readonly sessionId: string;
} {
  const steps: (() => Promise<void>)[] = [];
  let shared: { faults: FaultServer; sessionId: string } | undefined;
  const get = () => {
    if (shared === undefined) throw new Error('The server runs only while tests do.');
    return shared;
  };
  beforeAll(async () => {
    const faults = await FaultServer.start(await set(), (step) => steps.push(step));
    shared = { faults, sessionId: await faults.create() };
  });
  afterAll(async () => {
    for (const step of steps.toReversed()) await step();
  });
  return {
    get faults() {
      return get().faults;
    },
    get sessionId() {
      return get().sessionId;
    },
  };
}

async function makeFolders(config: Record<string, unknown> = {}): Promise<Folders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-faults-')));
  const folders = {
    root,
    home: join(root, 'home'),
    project: join(root, 'project'),
    dataDir: join(root, 'data'),
  };
  for (const folder of [folders.home, folders.project, folders.dataDir]) await mkdir(folder);
  const file = join(folders.dataDir, 'liminal.json');
  await writeFile(file, JSON.stringify({ roots: [folders.project], endLimitMs: 0, ...config }));
  return folders;
}
