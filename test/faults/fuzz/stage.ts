import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { ErrorBody, refusals } from '@liminal/protocol';
import { expect } from 'vitest';
import { z } from 'zod';
import { InputStage } from '../input-stage.ts';

const reporter = new URL('report-load.ts', import.meta.url).href;
const soakAgent = fileURLToPath(new URL('../../../bench/soak/agent.ts', import.meta.url));

/** How much CPU time the server process may use in one turn of its event loop, in ms. */
const maxStallMs = 250;

const Memory = z.object({ rss: z.number(), used: z.number(), sockets: z.number() });
export type Memory = z.infer<typeof Memory>;

/** How many connections the test's own clients keep open for later requests. */
const socketsOfOurs = 16;

/** How long one input may take, in ms. */
const patience = 30_000;

/** The agent types of the stage's server: the demo, and an agent whose messages make it ask, wait or work. */
export const agentTypes = ['demo', 'soak'] as const;

/** One real server. Every run of a property has two new sessions on this server, and leaves no session. */
export class FuzzStage {
  readonly input: InputStage;
  readonly #reports: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  /** The client for `input` has a connection of its own. */
  #gaugesAtFirst: Record<string, number> = {};
  /** The requests of this run, newest last. A failure's message contains them. */
  #sent: string[] = [];
  #underWay: Promise<void> = Promise.resolve();
  #sessions: string[] = [];
  #turns: string[] = [];
  #blobs: string[] = [];

  private constructor(input: InputStage, reports: string) {
    this.input = input;
    this.#reports = reports;
  }

  static async start(): Promise<FuzzStage> {
    const input = await InputStage.start({
      config: {
        agents: { soak: { command: process.execPath, args: [soakAgent] } },
        maxSessions: 40,
      },
      nodeArgs: ['--expose-gc', '--import', reporter],
      env: (root) => ({ FUZZ_REPORTS: join(root, 'reports') }),
    });
    const stage = new FuzzStage(input, join(input.root, 'reports'));
    // Play these sessions first, because loading modules for the first sessions must not be counted as a stall.
    await stage.#makeSessions();
    await stage.#deleteSessions();
    await stage.#report('loop');
    stage.#gaugesAtFirst = await stage.#gauges();
    return stage;
  }

  get port(): number {
    return this.input.port;
  }

  get token(): string {
    return this.input.server.token;
  }

  /** Plays one input on new sessions. If this fails, the error contains the data that was sent. */
  async play(run: () => Promise<void>): Promise<void> {
    const played = this.#play(run);
    this.#underWay = played;
    return played;
  }

  /**
   * Resolves when no input is being played. If the time of a property runs out, the property does not wait for its last
   * input.
   */
  async untilPlayed(): Promise<void> {
    await this.#underWay.catch(() => undefined);
  }

  async #play(run: () => Promise<void>): Promise<void> {
    this.#sent = [];
    await this.#makeSessions();
    try {
      try {
        await inTime(run());
      } finally {
        await this.#deleteSessions();
      }
      await this.#untilNobodyConnected();
      await this.#expectFreeLoop();
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      const sent = this.#sent.slice(-30).map((line) => `  ${line}`);
      throw new Error(
        `${words}\nSent:\n${sent.join('\n')}\nThe log ends with:\n${this.log.slice(-5).join('\n')}`,
        { cause: error },
      );
    }
  }

  /** Stores the sent text, shortened, for a failure's message. */
  note(sent: string): void {
    const shown = JSON.stringify(sent);
    this.#sent.push(shown.length > 400 ? `${shown.slice(0, 400)}… (${shown.length})` : shown);
    if (this.#sent.length > 100) this.#sent.shift();
  }

  addTurn(turnId: string): void {
    this.#turns.push(turnId);
  }

  addBlob(hash: string): void {
    this.#blobs.push(hash);
  }

  /**
   * Replaces `<session 1>`, `<turn 2>` and so on with existing ids. The numbers are taken modulo the number of existing
   * ids. `escape` encodes an id for the place where it is used, for example a URL.
   */
  async fill(sent: string, escape: (text: string) => string): Promise<string> {
    const approvals = sent.includes('<approval ') ? await this.#approvals() : [];
    const cursors = this.#turns.map((turn) => `${turn}:1`);
    const things: Record<string, readonly string[]> = {
      session: this.#sessions,
      turn: this.#turns,
      blob: this.#blobs,
      cursor: cursors,
      approval: approvals,
      project: [this.input.project],
      host: [`127.0.0.1:${this.port}`],
    };
    return sent.replaceAll(/<(\w+) (\d+)>/g, (_, name: string, number: string) => {
      const all = things[name] ?? [];
      return escape(all[Number(number) % all.length] ?? `no-${name}`);
    });
  }

  /** Sends a message to the first session. Waits only for the id of the message's turn. */
  async startTurn(message: string): Promise<void> {
    const { turnId } = await this.input.requests.send(this.#sessions[0] ?? '', message);
    this.#turns.push(turnId);
  }

  /** Returns the export of the first session. */
  async exported(): Promise<string> {
    const path = `/api/session/${this.#sessions[0]}/export`;
    return (await this.ask({ method: 'GET', path })).text;
  }

  /** Fails if one turn of the server's event loop has taken too long since the last call. */
  async #expectFreeLoop(): Promise<void> {
    const { stallMs } = z.object({ stallMs: z.number() }).parse(await this.#report('loop'));
    expect(stallMs, 'processor time of one turn of the event loop, ms').toBeLessThan(maxStallMs);
  }

  /** Returns the demo's output in a turn of a new session. */
  async demoTurn(): Promise<unknown> {
    const sessionId = await this.input.create();
    await this.input.play(sessionId, 'explain');
    const { entries } = await this.input.requests.history(sessionId);
    await this.input.requests.deleteSession(sessionId);
    return entries.map((entry) => [entry.type, 'content' in entry ? entry.content : '']);
  }

  /** Returns the lines of the server's log. */
  get log(): string[] {
    return this.input.server.log.split('\n').slice(1, -1);
  }

  async memory(): Promise<Memory> {
    return Memory.parse(await this.#report('memory'));
  }

  /** Resolves as soon as the server has no sockets except those of the test's own clients. */
  async untilNoSockets(): Promise<void> {
    this.#agent.destroy();
    const sockets = async () => (await this.memory()).sockets;
    await expect.poll(sockets, { timeout: 30_000 }).toBeLessThanOrEqual(socketsOfOurs);
  }

  /** Resolves as soon as the gauges count none of the connections and turns of an input. */
  async #untilNobodyConnected(): Promise<void> {
    const expected = this.#gaugesAtFirst;
    const end = performance.now() + patience;
    let gauges = await this.#gauges();
    while (!isDeepStrictEqual(gauges, expected) && performance.now() < end) {
      await delay(20);
      gauges = await this.#gauges();
    }
    // If a connection leaks, it stays open. Then the new counts become the base: otherwise every later input would
    // fail, and shrinking would mislead.
    this.#gaugesAtFirst = gauges;
    expect(gauges).toEqual(expected);
  }

  async #gauges(): Promise<Record<string, number>> {
    const names = ['websockets', 'event_streams', 'subscriptions', 'readers', 'turns_running'];
    const { text: all } = await this.ask({ method: 'GET', path: '/metrics' });
    const value = (name: string) => new RegExp(`^liminal_${name} (.*)$`, 'm').exec(all)?.[1];
    return Object.fromEntries(names.map((name) => [name, Number(value(name))]));
  }

  /**
   * Sends a request of the test itself. Reads the answer completely, or up to its first bytes if the answer `streams`.
   */
  async ask(wire: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string | Uint8Array;
    streams?: boolean;
  }): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
    const { method, path, headers = {}, body, streams = false } = wire;
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const authorization = `Bearer ${this.token}`;
    const host = { host: '127.0.0.1', port: this.port, agent: streams ? false : this.#agent };
    return new Promise((resolve, reject) => {
      const asked = request({
        ...host,
        method,
        path,
        headers: { authorization, ...length, ...headers },
      });
      asked.once('error', reject);
      asked.once('response', (response) => {
        const { statusCode: status = 0, headers: given } = response;
        if (streams && status < 300) {
          const first = (chunk: Buffer) => {
            resolve({ status, text: chunk.toString(), headers: given });
            asked.destroy();
          };
          response.once('data', first).once('end', () => first(Buffer.alloc(0)));
          response.once('error', () => undefined);
          return;
        }
        text(response).then((all) => resolve({ status, text: all, headers: given }), reject);
      });
      asked.end(body);
    });
  }

  async end(): Promise<void> {
    this.#agent.destroy();
    await this.input.end();
  }

  async #report(what: 'loop' | 'memory'): Promise<unknown> {
    return new Promise((resolve, reject) => {
      request({ socketPath: this.#reports, path: `/${what}`, agent: false })
        .once('error', reject)
        .once('response', (response) => void text(response).then(JSON.parse).then(resolve, reject))
        .end();
    });
  }

  async #makeSessions(): Promise<void> {
    const { requests, project } = this.input;
    const [demo, soak] = await Promise.all([
      this.input.create(),
      requests.createSession({ cliType: 'soak', projectDir: project }),
    ]);
    this.#sessions = [demo, soak.sessionId];
    this.#turns = [await this.input.play(demo, 'explain')];
    this.#blobs = [];
  }

  async #deleteSessions(): Promise<void> {
    const projects = await this.input.requests.listProjects();
    const sessions = projects.flatMap((project) => project.sessions);
    await Promise.all(sessions.map((one) => this.input.requests.deleteSession(one.sessionId)));
  }

  async #approvals(): Promise<string[]> {
    const pages = this.#sessions.map((id) =>
      this.input.requests.history(id).then(
        ({ entries }) => entries,
        () => [],
      ),
    );
    const entries = (await Promise.all(pages)).flat();
    return entries.flatMap((entry) =>
      entry.type === 'approval' && entry.status === 'create' ? entry.approvalId : [],
    );
  }
}

/**
 * Checks that a rejection by the server has a documented code, and that the code is not that of an internal error.
 * Returns the code.
 */
export function expectNamed(status: number, body: string): string {
  const { error } = ErrorBody.strict().parse(JSON.parse(body));
  expect(error.code, body).not.toBe('INTERNAL');
  expect({ status, code: error.code }, body).toEqual({
    status: (refusals as Record<string, number>)[error.code],
    code: error.code,
  });
  return error.code;
}

async function inTime(run: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('The answer took too long.')), patience);
  await Promise.race([run, late.promise]).finally(() => clearTimeout(timer));
}
