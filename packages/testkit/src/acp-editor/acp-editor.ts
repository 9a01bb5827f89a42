/** An editor as an ACP agent sees it: it starts the agent as its process, and speaks lines on its stdin and stdout. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Dialogue } from '../acp-schema/checked-stream.ts';

/** A JSON-RPC message, either way. */
export interface AcpMessage {
  id?: string | number | null;
  method?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, each by its own expectation
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
 * Keeps all that the agent says, and holds it to the protocol: `end` throws if a line was no JSON-RPC, or not what the
 * official schema has.
 */
export class AcpEditor {
  /** What the agent has said. */
  readonly heard: AcpMessage[] = [];
  /** What was wrong with it. */
  readonly complaints: string[] = [];
  stderr = '';
  wasKilled = false;
  readonly #child: ChildProcess;
  readonly #dialogue = new Dialogue();
  readonly #exited: Promise<number>;
  #isOver = false;
  #news = Promise.withResolvers<void>();
  #count = 0;

  constructor({ command, args, cwd, env }: AcpEditorOptions) {
    this.#child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    // An agent that has ended reads no more; its exit code says so.
    this.#child.stdin!.on('error', () => {});
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#hear(line));
    this.#exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#isOver = true;
      this.#tell();
      return typeof code === 'number' ? code : Promise.reject(new Error(`ended by ${signal}`));
    });
    this.#exited.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The agent's; rejects if a signal ended it. */
  get exitCode(): Promise<number> {
    return this.#exited;
  }

  /** Says a line, whatever it is. */
  say(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Says a message, whatever it is. */
  send(message: AcpMessage): void {
    const whole = { jsonrpc: '2.0' as const, ...message };
    this.#dialogue.problems(whole as never, 'here');
    this.say(JSON.stringify(whole));
  }

  /** Makes a request; resolves to its answer, which may be an error. */
  async ask(method: string, params: object): Promise<AcpMessage> {
    const id = `editor-${++this.#count}`;
    this.send({ id, method, params });
    return this.until((message) => message.id === id && message.method === undefined);
  }

  /** Makes a request that must succeed; resolves to its result. */
  async result(method: string, params: object): Promise<NonNullable<AcpMessage['result']>> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method} was refused: ${JSON.stringify(error)}`);
    return result;
  }

  /** What an editor does first. */
  async initialize(clientCapabilities: object = {}): Promise<void> {
    await this.result('initialize', { protocolVersion: 1, clientCapabilities });
  }

  /** Begins a session, with this value of one of its options. */
  async newSession(cwd: string, option?: [configId: string, value: string]): Promise<string> {
    const { sessionId } = await this.result('session/new', { cwd, mcpServers: [] });
    if (option) {
      const [configId, value] = option;
      await this.result('session/set_config_option', { sessionId, configId, value });
    }
    return sessionId;
  }

  /** Sends a prompt; resolves to its answer when the turn is over. */
  async prompt(sessionId: string, text: string): Promise<AcpMessage> {
    return this.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Resolves to the first message of the agent's that matches, of those to come or that came. */
  async until(matches: (message: AcpMessage) => boolean): Promise<AcpMessage> {
    for (let index = 0; ; index++) {
      const message = await this.message(index);
      if (matches(message)) return message;
    }
  }

  /** Resolves to the agent's message with this index, when it has come. */
  async message(index: number): Promise<AcpMessage> {
    for (;;) {
      const message = this.heard[index];
      if (message) return message;
      if (this.#isOver) throw new Error(`The agent ended without saying it.\n${this.stderr}`);
      await this.#news.promise;
    }
  }

  /** Resolves to the first update that has these words in it. */
  async untilUpdate(words: string): Promise<AcpMessage> {
    return this.until(
      ({ method, params }) =>
        method === 'session/update' && JSON.stringify(params.update).includes(words),
    );
  }

  /** Resolves to a question that the agent asks. */
  async untilAsked(method = 'session/request_permission'): Promise<AcpMessage> {
    return this.until((message) => message.method === method);
  }

  /** Chooses an option of a permission request. */
  choose(question: AcpMessage, optionId: string): void {
    const outcome = { outcome: 'selected', optionId };
    this.send({ id: question.id!, result: { outcome } });
  }

  /** The updates that it was told of a session, oldest first. */
  updates(sessionId: string): { sessionUpdate: string; [field: string]: unknown }[] {
    return this.heard
      .filter(({ method, params }) => method === 'session/update' && params.sessionId === sessionId)
      .map(({ params }) => params.update);
  }

  /** What the agent has said in a session, as one text. */
  said(sessionId: string): string {
    return this.updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
      .map(({ content }) => (content as { text?: string }).text ?? '')
      .join('');
  }

  /** Reads no more of what the agent says. */
  deafen(): void {
    this.#child.stdout!.destroy();
  }

  /** Leaves as an editor does that is closed: resolves to the agent's exit code. Throws what was wrong. */
  async end(): Promise<number> {
    this.#child.stdin!.end();
    const code = await this.#exited;
    if (this.complaints.length > 0) throw new Error(this.complaints.join('\n'));
    return code;
  }

  /** As an editor's crash. */
  async kill(): Promise<void> {
    this.wasKilled = true;
    this.#child.kill('SIGKILL');
    await this.#exited.catch(() => {});
  }

  #hear(line: string): void {
    try {
      const message = JSON.parse(line) as AcpMessage;
      const isNobodys = message.id === null && message.error !== undefined;
      const problems = isNobodys ? [] : this.#dialogue.problems(message as never, 'there');
      this.complaints.push(...problems.map((problem) => `${problem} in ${line.slice(0, 2000)}`));
      this.heard.push(message);
    } catch {
      this.complaints.push(`This is no JSON: ${line.slice(0, 2000)}`);
    }
    this.#tell();
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
