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
  /** The model's answers to Claude Code. Default: none. */
  script?: Script;
  /** Settings in `liminal.json` in addition to the allowed root. */
  config?: Record<string, unknown>;
  /** Additional environment variables of the server. */
  env?: Record<string, string>;
  /** The command line's program. Default: the repository's. */
  program?: string;
  /** Whether the server writes its log into a file of its data folder. Default: into a pipe. */
  logsToFile?: boolean;
}

/** The folders of one test, all below one folder of its own. */
interface Folders {
  root: string;
  home: string;
  project: string;
  dataDir: string;
}

/**
 * The whole server in its own process, with the real Claude Code on a scripted model. `server` can be crashed, stopped
 * and restarted on the same data folder and port.
 */
export class FaultServer {
  readonly folders: Folders;
  readonly api: MessagesApi;
  readonly server: LiminalServer;
  /** Commands and queries over HTTP. Each method rejects with `ApiError`, whose `code` is the server's error code. */
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

  /** Starts everything. The server ends with the test, unless another `onFinished` is given. */
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

  /** Begins a session of Claude Code, or of another agent, in the project folder; returns its id. */
  async create(cliType = 'claude-code'): Promise<string> {
    const { sessionId } = await this.requests.createSession({
      cliType,
      projectDir: this.folders.project,
    });
    return sessionId;
  }

  /** A stored run, or the run so far. */
  async run(runId: string): Promise<RunResponse> {
    const headers = { authorization: `Bearer ${this.server.token}` };
    const answer = await fetch(`${this.server.origin}/api/run/${runId}`, { headers });
    return RunResponse.parse(await answer.json());
  }

  /** The process that runs a session's agent. */
  agentPid(sessionId: string): number {
    const agents = this.census.withCommand(sessionId);
    const agent = agents.find(({ parent }) => parent === this.server.pid);
    if (agent === undefined) throw new Error(`No agent runs for the session ${sessionId}.`);
    return agent.pid;
  }

  /** The process that ends remaining processes when the server is gone. */
  get guardPid(): number {
    return this.#guardAmong(this.census.take()).pid;
  }

  /** The commands of all processes except the server and its guard. */
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

  /** Resolves when Claude Code has stored the text in its own store, which it does with a short delay. */
  async untilStored(sessionId: string, text: string): Promise<void> {
    const folder = join(this.folders.home, '.claude', 'projects');
    const stored = async () => {
      const files = await readdir(folder, { recursive: true }).catch(() => []);
      const name = files.find((file) => file.endsWith(`${sessionId}.jsonl`));
      return name === undefined ? '' : readFile(join(folder, name), 'utf8');
    };
    await expect.poll(stored, { timeout: 30_000 }).toContain(text);
  }

  /** Watches a session with deltas, from its history on. */
  async follow(sessionId: string): Promise<SessionReader> {
    const connection = new Connection(this.server.origin, this.server.token);
    const reader = await SessionReader.open(connection, sessionId);
    this.#readers.push(reader);
    return reader;
  }

  /** A server that is stopped leaves no process, whatever happened before (invariant 8). */
  async #end(): Promise<void> {
    for (const reader of this.#readers) reader.close();
    // The server stopped in an orderly way, or a signal of the test had ended it.
    expect([0, null], this.server.log).toContain(await this.server.stop());
    await this.census.untilEmpty();
  }
}

/** A server with a session of Claude Code, shared by all tests of the calling file. */
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
