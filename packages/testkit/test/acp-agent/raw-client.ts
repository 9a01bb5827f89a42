/** An ACP client that checks nothing: it sends requests, and keeps every line that it receives. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { acpAgent, type AcpAgent, type AgentScript } from '../../src/index.ts';

type Json = Record<string, unknown>;

/** Plays a script to a client of its own. The agent and the client end with the test. */
export async function runAgent(
  script: AgentScript,
): Promise<{ agent: AcpAgent; client: RawClient }> {
  const agent = await acpAgent(script);
  onTestFinished(() => agent.control.close());
  return { agent, client: new RawClient(agent) };
}

export class RawClient {
  /** Every line that the agent has sent. */
  readonly lines: string[] = [];
  /** The messages of the agent: the lines that are JSON objects. */
  readonly messages: Json[] = [];
  readonly process: ChildProcess;
  stderr = '';
  readonly #input: Writable;
  readonly #waiting = new Set<(message: Json) => void>();
  #changed = Promise.withResolvers<void>();
  #requests = 0;

  constructor({ command, args, env }: Pick<AcpAgent, 'command' | 'args' | 'env'>) {
    const child = spawn(command, args, {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.process = child;
    this.#input = child.stdin;
    // The agent may already have ended.
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    void this.#read(child.stdout);
  }

  write(line: string): void {
    this.#input.write(`${line}\n`);
  }

  notify(method: string, params: Json): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** Answers a request of the agent with this result. */
  answer(id: unknown, result: Json): void {
    this.write(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  /** Sends a request. Resolves with the whole answer: its `result` or its `error`. */
  async request(method: string, params: Json = {}): Promise<Json> {
    const id = this.#requests++;
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return this.until((message) => message['id'] === id && message['method'] === undefined);
  }

  /** Makes a session. Resolves with its id. */
  async session(cwd = '/project'): Promise<string> {
    const { result } = await this.request('session/new', { cwd, mcpServers: [] });
    return (result as { sessionId: string }).sessionId;
  }

  prompt(sessionId: string, text: string): Promise<Json> {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  cancel(sessionId: string): void {
    this.notify('session/cancel', { sessionId });
  }

  /** Returns the bodies of a session's updates so far. */
  updates(sessionId: string): Json[] {
    return this.messages
      .filter(({ method }) => method === 'session/update')
      .map(({ params }) => params as { sessionId: unknown; update: Json })
      .filter((params) => params.sessionId === sessionId)
      .map(({ update }) => update);
  }

  /** Returns the agent's texts in a session, joined. */
  agentText(sessionId: string): string {
    return this.updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
      .map(({ content }) => (content as { text?: string }).text ?? '')
      .join('');
  }

  /** Resolves with the first message, past or future, that `matches`. */
  until(matches: (message: Json) => boolean): Promise<Json> {
    return new Promise((resolve) => {
      const found = this.messages.find(matches);
      if (found !== undefined) return resolve(found);
      const check = (message: Json): void => {
        if (!matches(message)) return;
        this.#waiting.delete(check);
        resolve(message);
      };
      this.#waiting.add(check);
    });
  }

  /** Waits for a line with this text. The line need not be JSON. */
  async line(text: string): Promise<void> {
    while (!this.lines.includes(text)) await this.#changed.promise;
  }

  /** Waits for a request of the agent, and returns its id. */
  async asked(method: string): Promise<unknown> {
    return (await this.until((message) => message['method'] === method))['id'];
  }

  endInput(): void {
    this.#input.end();
  }

  /** Resolves when the process has ended, with its exit code or signal. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const { exitCode, signalCode } = this.process;
    if (exitCode === null && signalCode === null) await once(this.process, 'exit');
    return { code: this.process.exitCode, signal: this.process.signalCode };
  }

  async #read(output: Readable): Promise<void> {
    let rest = '';
    for await (const chunk of output.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#receive(line);
    }
    if (rest !== '') this.#receive(rest);
  }

  #receive(line: string): void {
    this.lines.push(line);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
    const message = parse(line);
    if (message === undefined) return;
    this.messages.push(message);
    for (const check of this.#waiting) check(message);
  }
}

function parse(line: string): Json | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? { ...message } : undefined;
  } catch {
    return undefined;
  }
}
