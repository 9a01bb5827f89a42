import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { codexBinary } from '@liminal/testkit';

interface RpcMessage {
  id?: number;
  method?: string;
  result?: { thread?: { id?: string } };
}

/** Runs `codex app-server` without Liminal, and reads and writes its messages line by line. */
export class BareCodex {
  /** The time at which the last turn's first token arrived. */
  firstAt = 0;
  readonly #cwd: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers = new Map<unknown, (said: RpcMessage) => void>();
  #onMethod: (method: string) => void = () => {};
  #asked = 0;

  constructor({ env, projectDir: cwd }: { env: Record<string, string>; projectDir: string }) {
    this.#cwd = cwd;
    const stdio: ['pipe', 'pipe', 'ignore'] = ['pipe', 'pipe', 'ignore'];
    this.#child = spawn(codexBinary(), ['app-server'], { cwd, env, stdio });
    createInterface(this.#child.stdout).on('line', (line) => {
      const said = JSON.parse(line) as RpcMessage;
      if (said.method === undefined) this.#answers.get(said.id)?.(said);
      else this.#onMethod(said.method);
    });
  }

  /** Opens a new thread; resolves with its id. */
  async open(): Promise<string> {
    await this.#initialise();
    const { result } = await this.#ask('thread/start', { cwd: this.#cwd });
    return result?.thread?.id ?? '';
  }

  /**
   * Resumes a thread that another process created, with the thread's turns (which a client must show) or without them.
   */
  async resume(threadId: string, { excludeTurns }: { excludeTurns: boolean }): Promise<void> {
    await this.#initialise();
    const params = { threadId, cwd: this.#cwd, excludeTurns };
    const { result } = await this.#ask('thread/resume', params);
    if (result?.thread?.id !== threadId) throw new Error('Codex did not resume its thread.');
  }

  /** Sends a message; resolves when the turn is over, with the ms to the answer's first token. */
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

  async #initialise(): Promise<void> {
    const clientInfo = { name: 'bench', title: 'Bench', version: '1' };
    await this.#ask('initialize', { clientInfo, capabilities: { experimentalApi: true } });
    this.#send({ method: 'initialized' });
  }

  #ask(method: string, params: object): Promise<RpcMessage> {
    this.#asked += 1;
    const id = this.#asked;
    const { promise, resolve } = Promise.withResolvers<RpcMessage>();
    this.#answers.set(id, resolve);
    this.#send({ id, method, params });
    return promise;
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
