import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Flood, promptOf } from './acp-source.ts';
import { Connection } from './connection.ts';
import { Measured } from './process.ts';

const server = fileURLToPath(new URL('source-server.ts', import.meta.url));

const warmUp: Flood = { count: 20_000, rate: 0 };

export interface Played {
  /** The time from the source's first delta to the client's last message, in ms. */
  wallMs: number;
  /** The server's CPU time, in ms. */
  cpuMs: number;
  /** The number of bytes sent to the client since the turn began. */
  bytes: number;
  messages: number;
  /** The time from the source's write to the client's receipt of each delta, in ms. */
  latenciesMs: number[];
  /** Whether the client received each delta once and in order, and has the complete text at the end. */
  isWhole: boolean;
}

/** Plays one turn of the source through a whole server to one client. */
export async function play({
  agent = 'source',
  cadenceMs,
  env = {},
  ...flood
}: Flood & {
  agent?: 'source' | 'acp' | 'model';
  cadenceMs: number;
  env?: NodeJS.ProcessEnv;
}): Promise<Played> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  const floods = JSON.stringify([warmUp, flood]);
  const args = [server, dataDir, String(cadenceMs), floods];
  const measured = await Measured.start(args, { ...process.env, ...env });
  try {
    return await playOn(measured, { agent, dataDir, flood });
  } finally {
    await measured.end();
    await rm(dataDir, { recursive: true });
  }
}

async function playOn(
  process: Measured,
  { flood, ...place }: { agent: string; dataDir: string; flood: Flood },
): Promise<Played> {
  const connection = new Connection(`http://127.0.0.1:${process.firstLine}`);
  // The first turn only warms both up.
  await playTurn(connection, place, warmUp);
  const cpuBefore = process.cpuMs;
  const turn = await playTurn(connection, place, flood);
  const times = turn.text.trim().split(' ').map(Number);
  const isOrdered = times.every((time, index) => index === 0 || time >= (times[index - 1] ?? 0));
  return {
    wallMs: (turn.endedAt - (times[0] ?? 0)) / 1000,
    cpuMs: process.cpuMs - cpuBefore,
    bytes: turn.bytes,
    messages: turn.messages,
    latenciesMs: turn.arrivals.map((at, index) => (at - (times[index] ?? 0)) / 1000),
    isWhole: times.length === flood.count && isOrdered && turn.finalText === turn.text,
  };
}

interface PlayedTurn {
  text: string;
  finalText: string;
  bytes: number;
  messages: number;
  /** The time at which the client received each delta, in µs. */
  arrivals: number[];
  endedAt: number;
}

const delta = 16;
const nowUs = (): number => Number(process.hrtime.bigint() / 1000n);

async function playTurn(
  connection: Connection,
  { agent, dataDir }: { agent: string; dataDir: string },
  flood: Flood,
): Promise<PlayedTurn> {
  const sessionId = await connection.create(agent, dataDir);
  const turn: PlayedTurn = {
    text: '',
    finalText: '',
    bytes: 0,
    messages: 0,
    arrivals: [],
    endedAt: 0,
  };
  const ended = Promise.withResolvers<void>();
  const take = (text: string): void => {
    turn.text += text;
    const at = nowUs();
    while (turn.arrivals.length < Math.floor(turn.text.length / delta)) turn.arrivals.push(at);
  };
  const socket = await connection.follow(sessionId, (m, bytes) => {
    turn.bytes += bytes;
    turn.messages += 1;
    if (m.type === 'session:append') take(m.text);
    if (m.type === 'session:upsert' && m.payload.type === 'message') {
      if (m.payload.status === 'create') take(m.payload.content);
      turn.finalText = m.payload.content;
    }
    if (m.type !== 'session:turn' || m.payload.type === 'turn_started') return;
    turn.endedAt = nowUs();
    ended.resolve();
  });
  await connection.post(`${sessionId}/send`, { message: promptOf(flood) });
  await ended.promise;
  socket.close();
  return turn;
}
