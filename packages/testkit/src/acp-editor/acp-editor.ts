/**
 * An ACP client that works like an editor: it starts the agent as a process, writes lines to the agent's stdin, and
 * reads its stdout.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Dialogue } from '../acp-schema/checked-stream.ts';

/** A JSON-RPC message in either direction. */
export interface AcpMessage {
  id?: string | number | null;
  method?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test checks the messages with its own expectations
  params?: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  result?: any;
  error?: { code: number; message: string; data?: unknown };
}

export interface AcpEditorOptions {
  command: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Keeps all messages of the agent, and checks them. `end` throws if a line was not JSON-RPC, or was not valid by the
 * official schema.
 */
export class AcpEditor {
  /** The agent's messages. */
  readonly received: AcpMessage[] = [];
  /** The problems in the agent's messages. */
  readonly problems: string[] = [];
  stderr = '';
  wasKilled = false;
  readonly #child: ChildProcess;
  readonly #dialogue = new Dialogue();
  readonly #exited: Promise<number>;
  #isOver = false;
  #changed = Promise.withResolvers<void>();
  #count = 0;

  constructor({ command, args, cwd, env }: AcpEditorOptions) {
    this.#child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    // Ignore errors of writing. An agent that has ended no longer reads, and its exit code shows why it has ended.
    this.#child.stdin!.on('error', () => {});
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#receive(line));
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

  /** Resolves with the agent's exit code; rejects if a signal ended the agent. */
  get exitCode(): Promise<number> {
    return this.#exited;
  }

  /** Writes a line without checking it. */
  sendLine(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Sends a message without checking it. */
  send(message: AcpMessage): void {
    const whole = { jsonrpc: '2.0' as const, ...message };
    this.#dialogue.problems(whole as never, 'here');
    this.sendLine(JSON.stringify(whole));
  }

  /** Sends a request. Resolves with its answer, which may be an error. */
  async ask(method: string, params: object): Promise<AcpMessage> {
    const id = `editor-${++this.#count}`;
    this.send({ id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  /** Sends a request that must succeed. Resolves with its result. */
  async result(method: string, params: object): Promise<NonNullable<AcpMessage['result']>> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method} was refused: ${JSON.stringify(error)}`);
    return result;
  }

  /** Initialises the connection, which is the first step of an editor. */
  async initialize(clientCapabilities: object = {}): Promise<void> {
    await this.result('initialize', { protocolVersion: 1, clientCapabilities });
  }

  /** Begins a session. If `option` is given, sets one of the session's options to this value. */
  async newSession(cwd: string, option?: [configId: string, value: string]): Promise<string> {
    const { sessionId } = await this.result('session/new', { cwd, mcpServers: [] });
    if (option) {
      const [configId, value] = option;
      await this.result('session/set_config_option', { sessionId, configId, value });
    }
    return sessionId;
  }

  /** Sends a prompt. Resolves with its answer when the turn is over. */
  async prompt(sessionId: string, text: string): Promise<AcpMessage> {
    return this.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Resolves with the first message of the agent that matches, past or future. */
  async until(matches: (message: AcpMessage) => boolean): Promise<AcpMessage> {
    for (let index = 0; ; index++) {
      const message = await this.message(index);
      if (matches(message)) return message;
    }
  }

  /** Resolves with the agent's message at this index when the message has arrived. */
  async message(index: number): Promise<AcpMessage> {
    for (;;) {
      const message = this.received[index];
      if (message) return message;
      if (this.#isOver)
        throw new Error(`The agent ended without sending the expected message.\n${this.stderr}`);
      await this.#changed.promise;
    }
  }

  /** Resolves with the first update that contains this text. */
  async untilUpdate(words: string): Promise<AcpMessage> {
    return this.until(
      ({ method, params }) =>
        method === 'session/update' && JSON.stringify(params.update).includes(words),
    );
  }

  /** Resolves with the first request of the agent for this method. */
  async untilAsked(method = 'session/request_permission'): Promise<AcpMessage> {
    return this.until((message) => message.method === method);
  }

  /** Chooses an option of a permission request. */
  choose(question: AcpMessage, optionId: string): void {
    const outcome = { outcome: 'selected', optionId };
    this.send({ id: question.id!, result: { outcome } });
  }

  /** Returns the updates of a session, the oldest first. */
  updates(sessionId: string): { sessionUpdate: string; [field: string]: unknown }[] {
    return this.received
      .filter(({ method, params }) => method === 'session/update' && params.sessionId === sessionId)
      .map(({ params }) => params.update);
  }

  /** Returns the agent's texts in a session, joined. */
  agentText(sessionId: string): string {
    return this.updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
      .map(({ content }) => (content as { text?: string }).text ?? '')
      .join('');
  }

  /** Stops reading the agent's output. */
  stopReading(): void {
    this.#child.stdout!.destroy();
  }

  /**
   * Closes the connection as an editor does when it is closed. Resolves with the agent's exit code. Throws the problems
   * that were found.
   */
  async end(): Promise<number> {
    this.#child.stdin!.end();
    const code = await this.#exited;
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
    return code;
  }

  /** Kills the agent, as if the editor had crashed. */
  async kill(): Promise<void> {
    this.wasKilled = true;
    this.#child.kill('SIGKILL');
    await this.#exited.catch(() => {});
  }

  #receive(line: string): void {
    try {
      const message = JSON.parse(line) as AcpMessage;
      const isNobodys = message.id === null && message.error !== undefined;
      const problems = isNobodys ? [] : this.#dialogue.problems(message as never, 'there');
      this.problems.push(...problems.map((problem) => `${problem} in ${line.slice(0, 2000)}`));
      this.received.push(message);
    } catch {
      this.problems.push(`This is not JSON: ${line.slice(0, 2000)}`);
    }
    this.#notify();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
