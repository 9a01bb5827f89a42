import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  answer,
  codexBinary,
  codexEnvironment,
  makeCodexHome,
  makeWorkspace,
  message,
  startResponsesApi,
} from '@liminal/testkit';
import type { Figure } from '../parts/figure.ts';
import { type LiminalServer, startLiminalServer } from '../parts/liminal-server.ts';
import { comparePairs, OpenSession, timeToFirstToken } from '../parts/pairs.ts';

interface Place {
  env: Record<string, string>;
  projectDir: string;
  server: LiminalServer;
}

/** The real `codex app-server` behind Liminal, against the same program spoken to line by line. */
export async function* codex(): AsyncGenerator<Figure> {
  const api = await startResponsesApi({ script: () => answer(message('Good morning.')) });
  const workspace = await makeWorkspace();
  const { home } = workspace;
  const env = codexEnvironment(home);
  const projectDir = join(home, 'code');
  await mkdir(projectDir);
  await mkdir(env['TMPDIR'] ?? home, { recursive: true });
  await makeCodexHome(env['CODEX_HOME'] ?? home, api.url);
  const server = await startLiminalServer(join(home, 'data'), env);
  const place = { env, projectDir, server };
  try {
    yield await comparePairs(
      { name: 'Codex: a new session, against bare codex app-server', atMost: 1.1 },
      () => bareNew(place),
      () => ourNew(place),
    );
    yield await comparePairs(
      { name: 'Codex: create to first token, against bare codex app-server', atMost: 1.1 },
      () => bareFirstToken(place),
      () => ourFirstToken(place),
    );
    yield await warm(place);
  } finally {
    await server.process.end();
    await api.close();
    await workspace.remove();
  }
}

async function ourNew({ server: { connection }, projectDir }: Place): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  const elapsed = performance.now() - start;
  await connection.post(`${sessionId}/kill`, {});
  return elapsed;
}

async function ourFirstToken({ server: { connection }, projectDir }: Place): Promise<number> {
  const start = performance.now();
  const sessionId = await connection.create('codex', projectDir);
  return timeToFirstToken(connection, sessionId, () => start);
}

/** Send to first token, in a session that is open in a client and has had a turn before. */
async function warm(place: Place): Promise<Figure> {
  const { connection } = place.server;
  const program = new BareCodex(place);
  const threadId = await program.open();
  const sessionId = await connection.create('codex', place.projectDir);
  const session = await OpenSession.of(connection, sessionId);
  try {
    return await comparePairs(
      {
        name: 'Codex: send to first token, warm, against bare codex app-server',
        atMost: 1.1,
        // Cheap, and so near its bound that fewer would not tell.
        rounds: 100,
      },
      () => program.firstToken(threadId),
      () => session.timeOfTurn(() => performance.now()),
    );
  } finally {
    session.close();
    await connection.post(`${sessionId}/kill`, {});
    await program.end();
  }
}

async function bareNew(place: Place): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  await program.open();
  const elapsed = performance.now() - start;
  await program.end();
  return elapsed;
}

async function bareFirstToken(place: Place): Promise<number> {
  const start = performance.now();
  const program = new BareCodex(place);
  const threadId = await program.open();
  await program.firstToken(threadId);
  const elapsed = program.firstAt - start;
  await program.end();
  return elapsed;
}

interface Said {
  id?: number;
  method?: string;
  result?: { thread?: { id?: string } };
}

/** The program, spoken to line by line. */
class BareCodex {
  /** When the last turn's first token came. */
  firstAt = 0;
  readonly #cwd: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers = new Map<unknown, (said: Said) => void>();
  #onMethod: (method: string) => void = () => {};
  #asked = 0;

  constructor({ env, projectDir: cwd }: Place) {
    this.#cwd = cwd;
    const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore'];
    this.#child = spawn(codexBinary(), ['app-server'], { cwd, env, stdio });
    createInterface(this.#child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as Said;
      if (said.method === undefined) this.#answers.get(said.id)?.(said);
      else this.#onMethod(said.method);
    });
  }

  /** Resolves with the id of a new thread. */
  async open(): Promise<string> {
    const clientInfo = { name: 'bench', title: 'Bench', version: '1' };
    await this.#ask('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#say({ method: 'initialized' });
    const { result } = await this.#ask('thread/start', { cwd: this.#cwd });
    return result?.thread?.id ?? '';
  }

  /** Resolves with the ms from a message to the answer's first token, when the turn is over. */
  async firstToken(threadId: string): Promise<number> {
    const ended = Promise.withResolvers<void>();
    let first: number | undefined;
    this.#onMethod = (method) => {
      if (method === 'item/agentMessage/delta') first ??= performance.now();
      if (method === 'turn/completed') ended.resolve();
    };
    const start = performance.now();
    const input = [{ type: 'text', text: 'Hello', text_elements: [] }];
    void this.#ask('turn/start', { threadId, input });
    await ended.promise;
    if (first === undefined) throw new Error('Codex said nothing.');
    this.firstAt = first;
    return first - start;
  }

  async end(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #ask(method: string, params: object): Promise<Said> {
    this.#asked += 1;
    const id = this.#asked;
    const { promise, resolve } = Promise.withResolvers<Said>();
    this.#answers.set(id, resolve);
    this.#say({ id, method, params });
    return promise;
  }

  #say(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
