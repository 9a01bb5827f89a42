import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';

export interface Program {
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** An editor that uses the protocol's own SDK, connected to an agent that it has started. */
export class Editor {
  readonly #child: ChildProcess;
  readonly #connection: ClientConnection;
  #onText: (text: string) => void = () => {};
  #sessionId = '';

  private constructor(child: ChildProcess & { stdin: Writable; stdout: Readable }) {
    this.#child = child;
    const app = client({ name: 'bench' }).onNotification(
      methods.client.session.update,
      ({ params }) => {
        const { update } = params;
        if (update.sessionUpdate !== 'agent_message_chunk') return;
        if (update.content.type === 'text') this.#onText(update.content.text);
      },
    );
    const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
    this.#connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), input));
  }

  /** Starts the agent and opens a session in a folder. */
  static async start({ command, args, env = {} }: Program, cwd: string): Promise<Editor> {
    const editor = new Editor(
      spawn(command, args, {
        env: { ...process.env, ...env },
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const { agent } = editor.#connection;
    const hello = { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} };
    await agent.request(methods.agent.initialize, hello);
    const session = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    editor.#sessionId = session.sessionId;
    return editor;
  }

  /** Sends a prompt; resolves when the turn is over. */
  async prompt(text: string, onText: (text: string) => void): Promise<void> {
    this.#onText = onText;
    const sessionId = this.#sessionId;
    const prompt = [{ type: 'text' as const, text }];
    await this.#connection.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** Returns the resident memory of the agent's process, in MiB. */
  get residentMiB(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async end(): Promise<void> {
    const gone = once(this.#child, 'exit');
    this.#child.stdin?.end();
    this.#child.kill('SIGTERM');
    await gone;
  }
}
