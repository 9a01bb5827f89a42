import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { Connection } from '../parts/connection.ts';
import { type Figure, median, ratioOf, repeat } from '../parts/figure.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));

/**
 * The number of sessions, the deltas a second in each session, and the most CPU time as a multiple of the direct path.
 */
const loads = [
  { sessions: 1, rate: 50, atMost: 4 },
  { sessions: 1, rate: 200, atMost: 4 },
  { sessions: 20, rate: 50, atMost: 5 },
];
const turnS = 10;
const rounds = 3;

/** A server whose CPU is measured, and a function that plays a turn in all of its sessions. */
interface Side {
  process: Measured;
  play: (message: string) => Promise<void>;
}

/**
 * Measures the server's CPU time for deltas at the pace of agents, compared with a program that reads the same deltas,
 * parses them and sends them over a WebSocket. Both programs run at the same time, because the cost of a delta depends
 * mostly on the machine's other load.
 */
export async function* pacedCpu(): AsyncGenerator<Figure> {
  for (const { sessions, rate, atMost } of loads) {
    const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
    const [bare, ours] = await Promise.all([bareSide(sessions), ourSide(sessions, dataDir)]);
    try {
      const count = rate * turnS;
      const turn = (side: Side) => cpuOf(side, `${count} ${rate}`, count * sessions);
      await Promise.all([turn(bare), turn(ours)]);
      const pairs = await repeat(rounds, async () => {
        const [floor, measured] = await Promise.all([turn(bare), turn(ours)]);
        return { floor, ours: measured };
      });
      const each = median(pairs.map((pair) => pair.ours));
      const direct = median(pairs.map((pair) => pair.floor));
      const core = (each * rate * sessions) / 10_000;
      const what = sessions === 1 ? 'a session' : `${sessions} sessions`;
      const detail = `${core.toFixed(1)} % of a core; ${each.toFixed(0)} against ${direct.toFixed(0)} µs a delta at the same time`;
      const name = `CPU of ${what} with ${rate} deltas/s, against the direct way`;
      yield { name, ...ratioOf(pairs, atMost, 'µs'), detail };
    } finally {
      await Promise.all([bare.process.end(), ours.process.end()]);
      await rm(dataDir, { recursive: true });
    }
  }
}

/** Resolves with the CPU time for each delta of a turn in all sessions, in µs. */
async function cpuOf({ process, play }: Side, message: string, deltas: number): Promise<number> {
  const before = process.cpuMs;
  await play(message);
  return ((process.cpuMs - before) * 1000) / deltas;
}

async function bareSide(sessions: number): Promise<Side> {
  const process = await Measured.start([part('direct-server.ts'), 'bench']);
  const sockets = await repeat(sessions, async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${process.firstLine}`);
    await once(socket, 'open');
    return socket;
  });
  const turnOn = async (socket: WebSocket, message: string): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    const look = (data: Buffer): void => {
      if (data.includes('"turn_complete"')) ended.resolve();
    };
    socket.on('message', look);
    socket.send(message);
    await ended.promise;
    socket.off('message', look);
  };
  const play = async (message: string): Promise<void> => {
    await Promise.all(sockets.map(async (socket) => turnOn(socket, message)));
  };
  return { process, play };
}

async function ourSide(sessions: number, dataDir: string): Promise<Side> {
  const process = await Measured.start([part('source-server.ts'), dataDir, '33']);
  const connection = new Connection(`http://127.0.0.1:${process.firstLine}`);
  const turns = await repeat(sessions, async () => {
    const sessionId = await connection.create('source', dataDir);
    let ended = Promise.withResolvers<void>();
    await connection.follow(sessionId, (message) => {
      if (message.type === 'session:turn' && message.payload.type !== 'turn_started')
        ended.resolve();
    });
    return async (message: string): Promise<void> => {
      ended = Promise.withResolvers<void>();
      await connection.post(`${sessionId}/send`, { message });
      await ended.promise;
    };
  });
  const play = async (message: string): Promise<void> => {
    await Promise.all(turns.map(async (turn) => turn(message)));
  };
  return { process, play };
}
