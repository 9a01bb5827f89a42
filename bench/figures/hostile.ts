import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '../parts/connection.ts';
import type { Figure } from '../parts/figure.ts';
import { hostileInputs } from '../parts/hostile-inputs.ts';
import { packedMiB } from '../parts/long-session.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));

const MOST_STALL_MS = 250;
const TRIES = 3;
/** What a store holds of a session in which little was said. */
const EMPTY_MIB = 0.25;

/** Inputs of up to 32 MB that nobody would want: how long the server answers nobody else, and what it stores of them. */
export async function hostile(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, make] of Object.entries(hostileInputs)) {
    const { stalls, storedMiB, inputMiB } = await playUntilCalm(make());
    const tries = stalls.map((ms) => ms.toFixed(0)).join(', ');
    const detail = `best of ${tries}; ${inputMiB.toFixed(1)} MiB, followed by a client`;
    figures.push(
      {
        name: `${name}: longest stall`,
        value: Math.min(...stalls),
        unit: 'ms',
        bound: { atMost: MOST_STALL_MS },
        detail,
      },
      {
        name: `${name}: stored`,
        value: Math.max(0, storedMiB - EMPTY_MIB) / inputMiB,
        unit: '× its bytes',
        bound: { atMost: 3 },
        detail: `${storedMiB.toFixed(1)} MiB of ${inputMiB.toFixed(1)} MiB`,
      },
    );
  }
  return figures;
}

/** Again where it stalled for too long: other programs on the machine stall it, too. */
async function playUntilCalm(lines: readonly string[]) {
  const stalls: number[] = [];
  for (;;) {
    const { stallMs, ...sizes } = await play(lines);
    stalls.push(stallMs);
    if (stallMs <= MOST_STALL_MS || stalls.length === TRIES) return { ...sizes, stalls };
  }
}

async function play(lines: readonly string[]) {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-hostile-'));
  const file = join(dataDir, 'lines.jsonl');
  const text = `${lines.join('\n')}\n`;
  await writeFile(file, text);
  const agent = { command: process.execPath, args: [part('hostile-agent.ts'), file] };
  const env = { ...process.env, BENCH_AGENT: JSON.stringify(agent) };
  const server = await Measured.start([part('source-server.ts'), dataDir, '33'], env);
  try {
    const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
    // The first turn of a server compiles much.
    await playTurn(connection, await connection.create('source', dataDir), '100 0');
    const sessionId = await connection.create('named', dataDir);
    await server.stallMs();
    await playTurn(connection, sessionId, 'Go.');
    const stallMs = await server.stallMs();
    const storedMiB = await packedMiB(dataDir);
    return { stallMs, storedMiB, inputMiB: text.length / 2 ** 20 };
  } finally {
    await server.end();
    await rm(dataDir, { recursive: true });
  }
}

/** Until it is history, too. */
async function playTurn(connection: Connection, sessionId: string, message: string): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const settled = Promise.withResolvers<void>();
  let isOver = false;
  const socket = await connection.follow(sessionId, (received) => {
    const isTurn = received.type === 'session:turn' ? received.payload : undefined;
    const isHistory = received.type === 'session:history' ? received.turns.at(-1) : undefined;
    if (isTurn?.type === 'turn_error' || isHistory?.status === 'error') {
      ended.reject(new Error(JSON.stringify(received).slice(0, 1_000)));
    }
    if (isTurn?.type === 'turn_complete' || isHistory?.status === 'complete') {
      isOver = true;
      ended.resolve();
    }
    const isAtRest = received.type === 'session:info' && received.info.session.state === 'idle';
    if (isOver && isAtRest) settled.resolve();
  });
  await connection.post(`${sessionId}/send`, { message });
  await ended.promise;
  await settled.promise;
  socket.close();
}
