import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  claudeEnvironment,
  makeWorkspace,
  reply,
  startMessagesApi,
  toolUse,
} from '@liminal/testkit';
import { Connection } from '../parts/connection.ts';
import { bestOf, type Figure } from '../parts/figure.ts';
import { hostileInputs, hostileToolInputs } from '../parts/hostile-inputs.ts';
import { packedMiB } from '../parts/long-session.ts';
import { Measured } from '../parts/process.ts';

const part = (name: string): string => fileURLToPath(new URL(`../parts/${name}`, import.meta.url));

const mostStallMs = 250;
const maxTries = 3;
/** The number of characters that a model sends at once. */
const piece = 256 * 1024;
/** The size of a store whose session has little text, in MiB. */
const emptyMib = 0.25;

/**
 * One hostile input: the agent that writes it, the environment of the server that starts this agent, and the input's
 * size.
 */
interface Source {
  env: Record<string, string | undefined>;
  cliType: string;
  inputMiB: number;
  end: () => Promise<unknown>;
}

/** Measures how long hostile inputs of up to 32 MB block the server, and how much the server stores. */
export async function* hostile(): AsyncGenerator<Figure> {
  for (const [name, make] of Object.entries(hostileInputs)) {
    yield* await figuresOf(name, () => fromAgent(make()));
  }
  for (const [name, make] of Object.entries(hostileToolInputs)) {
    yield* await figuresOf(`Claude Code, ${name}`, () => fromClaude(make()));
  }
}

async function figuresOf(name: string, source: () => Promise<Source>): Promise<Figure[]> {
  const { stalls, storedMiB, inputMiB } = await playUntilCalm(source);
  const tries = stalls.map((ms) => ms.toFixed(0)).join(', ');
  return [
    {
      name: `${name}: longest stall`,
      ...bestOf(stalls),
      unit: 'ms',
      bound: { atMost: mostStallMs },
      detail: `best of ${tries}; ${inputMiB.toFixed(1)} MiB, followed by a client`,
    },
    {
      name: `${name}: stored`,
      value: Math.max(0, storedMiB - emptyMib) / inputMiB,
      unit: '× its bytes',
      bound: { atMost: 3 },
      detail: `${storedMiB.toFixed(1)} MiB of ${inputMiB.toFixed(1)} MiB`,
    },
  ];
}

/** Makes an ACP agent that writes these lines. */
async function fromAgent(lines: readonly string[]): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'liminal-lines-'));
  const file = join(folder, 'lines.jsonl');
  const text = `${lines.join('\n')}\n`;
  await writeFile(file, text);
  const agent = { command: process.execPath, args: [part('hostile-agent.ts'), file] };
  return {
    env: { BENCH_AGENT: JSON.stringify(agent) },
    cliType: 'named',
    inputMiB: text.length / 2 ** 20,
    end: () => rm(folder, { recursive: true }),
  };
}

/** Makes the real Claude Code call a tool with this input: a scripted model requests the call. */
async function fromClaude(json: string): Promise<Source> {
  const pieces = Array.from({ length: Math.ceil(json.length / piece) }, (_, at) =>
    json.slice(at * piece, (at + 1) * piece),
  );
  const api = await startMessagesApi({
    script: ({ prompt, body }) =>
      prompt.includes('Go.') && !JSON.stringify(body.messages.at(-1)).includes('tool_result')
        ? reply({ ...toolUse('Made_up', {}), parts: pieces })
        : reply('Bye.'),
  });
  const workspace = await makeWorkspace();
  return {
    env: { ...claudeEnvironment(workspace.home, api.url), BENCH_CLAUDE: '1' },
    cliType: 'claude-code',
    inputMiB: json.length / 2 ** 20,
    end: () => Promise.all([api.close(), workspace.remove()]),
  };
}

/** Plays the input again after a long stall, because other programs on the machine can also stall the server. */
async function playUntilCalm(source: () => Promise<Source>) {
  const stalls: number[] = [];
  for (;;) {
    const { stallMs, ...sizes } = await play(await source());
    stalls.push(stallMs);
    if (stallMs <= mostStallMs || stalls.length === maxTries) return { ...sizes, stalls };
  }
}

async function play({ env, cliType, inputMiB, end }: Source) {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-hostile-'));
  const program = [part('source-server.ts'), dataDir, '33'];
  const server = await Measured.start(program, { ...process.env, ...env });
  try {
    const connection = new Connection(`http://127.0.0.1:${server.firstLine}`);
    // These turns are not measured, because much code is compiled in a server's first turn and in the first turn of
    // each kind of agent.
    await playTurn(connection, await connection.create('source', dataDir), '100 0');
    if (cliType === 'claude-code') {
      await playTurn(connection, await connection.create(cliType, dataDir), 'Hello.');
    }
    const sessionId = await connection.create(cliType, dataDir);
    await server.stallMs();
    await playTurn(connection, sessionId, 'Go.');
    const stallMs = await server.stallMs();
    return { stallMs, storedMiB: await packedMiB(dataDir), inputMiB };
  } finally {
    await server.end();
    await end();
    await rm(dataDir, { recursive: true });
  }
}

/** Plays a turn; resolves when the turn is in history. */
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
