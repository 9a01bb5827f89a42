/** Runs the command line as a person does: as a separate process with its own home folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient, type LiminalClient } from '@liminal/client';
import { AcpEditor } from '@liminal/testkit/acp-editor';
import { expect, vi } from 'vitest';
import { PseudoTerminal } from './pseudo-terminal.ts';

const main = fileURLToPath(new URL('../bin/liminal.js', import.meta.url));
const many = fileURLToPath(new URL('many-commands.ts', import.meta.url));

/** Like `expect.poll`, with a timeout that suits a busy machine. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: 60_000 });
}

/** A home folder that contains a project and a data folder, and all processes that were started in this home folder. */
export class Home {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-cli-')));
  readonly project = join(this.folder, 'project');
  readonly data = join(this.folder, 'data');
  readonly #started: Command[] = [];
  readonly #editors: AcpEditor[] = [];
  readonly #terminals: PseudoTerminal[] = [];
  #many: ManyCommands | undefined;

  constructor() {
    mkdirSync(this.project);
  }

  start(args: string[], env: NodeJS.ProcessEnv = {}): Command {
    const command = new Command(args, this.project, { ...this.#env, ...env });
    this.#started.push(command);
    return command;
  }

  /** Starts a command in a pseudo-terminal. */
  atTerminal(args: string[], cols?: number): PseudoTerminal {
    const command = [process.execPath, main, ...args];
    const terminal = new PseudoTerminal(command, this.project, this.#env, cols);
    this.#terminals.push(terminal);
    return terminal;
  }

  /** Starts an editor that runs `liminal acp` with these flags. */
  editor(args: string[] = ['--agent', 'demo'], env: NodeJS.ProcessEnv = {}): AcpEditor {
    const editor = new AcpEditor({
      command: process.execPath,
      args: [main, 'acp', ...args],
      cwd: this.project,
      env: { ...this.#env, ...env },
    });
    this.#editors.push(editor);
    return editor;
  }

  /** Returns the server that runs on the data folder, no matter which process started it. */
  get server(): ServerFile {
    return JSON.parse(readFileSync(join(this.data, 'server.json'), 'utf8')) as ServerFile;
  }

  /** Stops the server that runs on the data folder, no matter which process started it. */
  async endServer(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { pid } = this.server;
    process.kill(pid, signal);
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 60_000 });
  }

  /**
   * Runs a command line to its end in a process that runs many such command lines, one after another, because starting
   * a process is slow. To test variants in a process of their own, use `play`.
   */
  async play(...args: string[]): Promise<Outcome> {
    this.#many ??= new ManyCommands(this.project, this.#env);
    return this.#many.play(args);
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      HOME: this.folder,
      LIMINAL_DATA_DIR: this.data,
    };
  }

  /** Starts a server on a free port. */
  async serve(args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const command = this.start(['serve', '--port', '0', '--no-open', ...args], env);
    const [line] = await command.untilOutput(/^Liminal is at \S+$/m);
    const link = line.split(' ').at(-1)!;
    return { command, link, url: new URL(link).origin, token: this.server.token };
  }

  async close(): Promise<void> {
    await this.#many?.end();
    await Promise.all(this.#editors.map((editor) => editor.kill()));
    await Promise.all(this.#terminals.map((terminal) => terminal.end()));
    await Promise.all(this.#started.map((command) => command.end('SIGTERM')));
    // An editor may have started the server.
    if (existsSync(join(this.data, 'server.json')) && isAlive(this.server.pid)) {
      await this.endServer();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface ServerFile {
  url: string;
  token: string;
  pid: number;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export interface Server {
  command: Command;
  link: string;
  url: string;
  token: string;
}

/** Returns a client of a server. The test must close the client after use. */
export const clientOf = ({ url, token }: Pick<Server, 'url' | 'token'>): LiminalClient =>
  createClient({ baseUrl: url, token });

/** Makes a session of the demo with these prompts. Uses the client instead of commands. */
export async function createSessionWithTurns(
  { requests }: LiminalClient,
  projectDir: string,
  ...prompts: string[]
): Promise<string> {
  const { sessionId } = await requests.createSession({ cliType: 'demo', projectDir });
  await requests.setConfig(sessionId, 'pace', 'instant');
  for (const prompt of prompts) {
    const { turnId } = await requests.send(sessionId, prompt);
    // `beforeAll` also calls this function, and `expect.poll` does not work in hooks.
    await vi.waitFor(
      async () => {
        const { turns } = await requests.history(sessionId);
        expect(turns).toContainEqual(expect.objectContaining({ turnId, status: 'complete' }));
      },
      { timeout: 60_000 },
    );
  }
  return sessionId;
}

export class Command {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #exited: Promise<number>;
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  constructor(args: string[], cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [main, ...args], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#notify();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#notify();
    });
    this.#exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#isOver = true;
      this.#notify();
      return typeof code === 'number' ? code : Promise.reject(new Error(`ended by ${signal}`));
    });
    this.#exited.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The exit code of the command. */
  get exitCode(): Promise<number> {
    return this.#exited;
  }

  /** Waits for a text on either output. */
  async untilOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (found) return found;
      if (this.#isOver)
        throw new Error(`The command ended without ${pattern}:\n${this.stdout}${this.stderr}`);
      await this.#changed.promise;
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends the command, if it still runs. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.signal(signal);
    await this.#exited.catch(() => {});
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** The outcome of a command. */
export interface Outcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

class ManyCommands {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [many], { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#answers = createInterface(this.#child.stdout!)[Symbol.asyncIterator]();
  }

  async play(args: string[]): Promise<Outcome> {
    const outcome = this.#last.then(async () => {
      this.#child.stdin!.write(`${JSON.stringify(args)}\n`);
      const { value, done } = await this.#answers.next();
      if (done === true) throw new Error(`The process ended during ${args.join(' ')}.`);
      return JSON.parse(value) as Outcome;
    });
    this.#last = outcome.catch(() => {});
    return outcome;
  }

  async end(): Promise<void> {
    const over = once(this.#child, 'close');
    this.#child.stdin!.end();
    await over;
  }
}
