import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ServerMessage } from '@liminal/protocol';
import { Connection } from '../parts/connection.ts';
import type { Figure } from '../parts/figure.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));

/** The most functions that the server may call for a delta of Claude Code, for a message and for an answer. */
const bounds = { delta: 100, send: 560, answer: 275 };

const rate = 50;

/** The number of calls by function (`file:function@offset`). */
type Calls = Record<string, number>;

/**
 * Counts the functions of Liminal that the server calls for one delta, one `send` and one answer to a permission
 * request, in a session with one subscriber. The number shows how much code a reader must know to follow each of them.
 * `BENCH_FUNCTIONS=1` prints the functions' names.
 */
export async function* functions(): AsyncGenerator<Figure> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const server = await Measured.start(
    ['--import', part('count-functions.ts'), part('source-server.ts'), dataDir, '33'],
    { ...process.env, BENCH_DEMO: '1' },
  );
  try {
    const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
    const source = await Subscribed.open(connection, 'source', dataDir);
    await source.send(`2 ${rate}`);
    await source.ended();

    await server.calls();
    await source.send(`2 ${rate}`);
    yield figure('a message', await server.calls(), 1, bounds.send);
    await source.ended();

    await source.send(`${rate * 3} ${rate}`);
    // Count calls only in the middle of the turn, not at its beginning or end.
    await setTimeout(1_000);
    await server.calls();
    await setTimeout(1_000);
    yield figure('a delta', await server.calls(), rate * 0.8, bounds.delta);
    await source.ended();

    const demo = await Subscribed.open(connection, 'demo', dataDir);
    for (let round = 0; ; round += 1) {
      await demo.send('approve');
      const approvalId = await demo.asked();
      await server.calls();
      const answer = { outcome: 'selected', optionId: demo.optionId };
      await connection.post(`${demo.sessionId}/approval/${approvalId}`, answer);
      const calls = await server.calls();
      await demo.ended();
      if (round === 0) continue;
      yield figure('an answer', calls, 1, bounds.answer);
      break;
    }
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

/** Counts the functions that were called at least `atLeast` times. */
function figure(of: string, calls: Calls, atLeast: number, atMost: number): Figure {
  const called = Object.keys(calls).filter((name) => (calls[name] ?? 0) >= atLeast);
  const files = new Set(called.map((name) => name.split(':')[0]));
  if (process.env['BENCH_FUNCTIONS'] !== undefined) console.log(called.toSorted().join('\n'));
  const detail = `in ${files.size} files`;
  return { name: `Functions for ${of}`, value: called.length, unit: '', bound: { atMost }, detail };
}

/** A session with one subscriber. */
class Subscribed {
  readonly sessionId: string;
  optionId = '';
  readonly #connection: Connection;
  #ended = Promise.withResolvers<void>();
  #asked = Promise.withResolvers<string>();

  private constructor(connection: Connection, sessionId: string) {
    this.#connection = connection;
    this.sessionId = sessionId;
  }

  static async open(connection: Connection, cliType: string, folder: string): Promise<Subscribed> {
    const sessionId = await connection.create(cliType, folder);
    const subscribed = new Subscribed(connection, sessionId);
    await connection.follow(sessionId, (message) => subscribed.#onMessage(message));
    return subscribed;
  }

  async send(message: string): Promise<void> {
    this.#ended = Promise.withResolvers();
    this.#asked = Promise.withResolvers();
    await this.#connection.post(`${this.sessionId}/send`, { message });
  }

  async ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Resolves with the id of the permission request that the running turn waits for. */
  async asked(): Promise<string> {
    return this.#asked.promise;
  }

  #onMessage(message: ServerMessage): void {
    if (message.type === 'session:turn' && message.payload.type !== 'turn_started')
      this.#ended.resolve();
    if (message.type !== 'session:upsert' || message.payload.type !== 'approval') return;
    const [option] = message.payload.options;
    if (option !== undefined) this.optionId = option.optionId;
    this.#asked.resolve(message.payload.approvalId);
  }
}
