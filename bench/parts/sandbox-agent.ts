/**
 * Plays turns of the scripted ACP agent through sandbox-agent (Apache-2.0), a program that serves ACP agents over HTTP
 * and server-sent events. sandbox-agent stores nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Flood, floodingAgent, promptOf } from './acp-source.ts';
import { cpuMsOf } from './process.ts';

export interface SandboxPlayed {
  /** The time from the first chunk to the end of the turn, in ms. */
  wallMs: number;
  /** The server's CPU time, in ms. */
  cpuMs: number;
  /** The time from the agent's write to the client's receipt of each chunk that arrived, in ms. */
  latenciesMs: number[];
  /** The number of chunks that never arrived. */
  lost: number;
}

interface RpcMessage {
  result?: { sessionId?: string };
  error?: unknown;
  params?: { update?: { content?: { text?: string } } };
}

/** The name by which sandbox-agent knows the agent: sandbox-agent starts the program of this name in its folder. */
const agentName = 'pi';
const warmUp: Flood = { count: 20_000, rate: 0 };

/** Starts a sandbox-agent and plays a turn, after a first turn that warms sandbox-agent up. */
export async function playSandboxAgent(flood: Flood): Promise<SandboxPlayed> {
  const home = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const { command, args, env, control } = await floodingAgent([warmUp, flood]);
  await writeLauncher(join(home, 'sandbox-agent/bin/agent_processes/pi-acp'), [command, ...args]);
  const port = await freePort();
  const child = spawn(
    await program(),
    ['server', '--no-token', '--no-telemetry', '--host', '127.0.0.1', '--port', String(port)],
    {
      env: {
        ...process.env,
        ...env,
        HOME: home,
        XDG_DATA_HOME: home,
        SANDBOX_AGENT_REQUIRE_PREINSTALL: '1',
      },
      stdio: 'ignore',
    },
  );
  const exited = once(child, 'exit');
  try {
    const client = await Client.of(`http://127.0.0.1:${port}`, home);
    await client.play(warmUp);
    const cpuBefore = cpuMsOf(child.pid);
    const turn = await client.play(flood);
    client.close();
    return { ...turn, cpuMs: cpuMsOf(child.pid) - cpuBefore };
  } finally {
    child.kill('SIGTERM');
    await exited;
    await control.close();
    await rm(home, { recursive: true });
  }
}

/** A client of one of sandbox-agent's ACP connections. */
class Client {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });
  #onText: (text: string) => void = () => {};
  #sessionId = '';
  #nextId = 0;
  #events: IncomingMessage | undefined;

  private constructor(origin: string) {
    this.#url = `${origin}/v1/acp/bench`;
  }

  static async of(origin: string, cwd: string): Promise<Client> {
    const client = new Client(origin);
    await client.#ready(origin);
    const initialize = { protocolVersion: 1, clientCapabilities: {} };
    await client.#ask('initialize', initialize, `?agent=${agentName}`);
    await client.#listen();
    const { result } = await client.#ask('session/new', { cwd, mcpServers: [] });
    client.#sessionId = result?.sessionId ?? '';
    return client;
  }

  async play(flood: Flood): Promise<Omit<SandboxPlayed, 'cpuMs'>> {
    const latenciesMs: number[] = [];
    let startUs = 0;
    let lastAt = performance.now();
    this.#onText = (said) => {
      lastAt = performance.now();
      const writtenUs = Number(said);
      startUs ||= writtenUs;
      latenciesMs.push((nowUs() - writtenUs) / 1000);
    };
    const prompt = [{ type: 'text', text: promptOf(flood) }];
    await this.#ask('session/prompt', { sessionId: this.#sessionId, prompt });
    const wallMs = (nowUs() - startUs) / 1000;
    // Chunks that arrive after the response to the prompt also count as delivered.
    while (latenciesMs.length < flood.count && performance.now() - lastAt < 1_000) await delay(50);
    return { wallMs, latenciesMs, lost: flood.count - latenciesMs.length };
  }

  close(): void {
    this.#events?.destroy();
    this.#agent.destroy();
  }

  async #ready(origin: string): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        const response = await fetch(`${origin}/v1/health`);
        if (response.ok) return;
      } catch (error) {
        if (tries > 200) throw error;
      }
      await delay(50);
    }
  }

  async #ask(method: string, params: object, query = ''): Promise<RpcMessage> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const asked = request(`${this.#url}${query}`, { method: 'POST', headers, agent: this.#agent });
    this.#nextId += 1;
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: this.#nextId, method, params }));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    const given = await text(answer);
    const said = JSON.parse(given) as RpcMessage;
    if (answer.statusCode !== 200 || said.error !== undefined) {
      throw new Error(`sandbox-agent, ${method}: ${answer.statusCode} ${given}`);
    }
    return said;
  }

  async #listen(): Promise<void> {
    const asked = request(this.#url, { headers: { accept: 'text/event-stream' } });
    asked.end();
    const [events] = (await once(asked, 'response')) as [IncomingMessage];
    this.#events = events;
    let rest = '';
    events.setEncoding('utf8');
    // The stream ends with an error when the client is closed.
    events.on('error', () => {});
    events.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (!line.startsWith('data:')) continue;
        const { params } = JSON.parse(line.slice(5)) as RpcMessage;
        const said = params?.update?.content?.text;
        if (said !== undefined) this.#onText(said);
      }
    });
  }
}

/**
 * Returns the path of the program in the package for this platform. Makes the program executable, because npm unpacks
 * it without that permission. Throws if the package is missing.
 */
async function program(): Promise<string> {
  const name = `@sandbox-agent/cli-${process.platform}-${process.arch}/package.json`;
  const cli = createRequire(import.meta.resolve('@sandbox-agent/cli/package.json'));
  const path = join(dirname(cli.resolve(name)), 'bin/sandbox-agent');
  await chmod(path, 0o755);
  return path;
}

async function writeLauncher(path: string, command: readonly string[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const quoted = command.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  await writeFile(path, `#!/bin/sh\nexec ${quoted}\n`);
  await chmod(path, 0o755);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);
