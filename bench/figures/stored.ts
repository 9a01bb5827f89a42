import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputItem, Response } from '@liminal/protocol';
import { type ResponseStore } from '@liminal/storage';
import { openPostgres } from '@liminal/storage/postgres';
import { openSqliteStorage } from '@liminal/storage/sqlite';
import { startPostgres } from '@liminal/testkit';
import pg from 'pg';
import type { Figure } from '../parts/figure.ts';

const turnCount = 100;
/** The sizes of an agent's turn, in characters: a question, answers, and tool outputs. */
const parts = { question: 200, answers: [400, 900, 1_600], outputs: [500, 2_000, 6_000, 12_000] };

/** Measures the size of a stored session compared with the size of its text. */
export async function* stored(): AsyncGenerator<Figure> {
  const turns = Array.from({ length: turnCount }, (_, index) => turnOf(index));
  const text = turns.flatMap(({ outputItems }) => outputItems.map(textOf)).join('').length;
  const detail = (bytes: number): string =>
    `${(bytes / 2 ** 20).toFixed(2)} MiB for ${(text / 2 ** 20).toFixed(2)} MiB of prose and code, with its index for searching`;
  const figure = (name: string, bytes: number): Figure => ({
    name: `stored after projection in ${name}, against the text`,
    value: bytes / text,
    unit: '×',
    bound: { atMost: 1.5 },
    detail: detail(bytes),
  });
  yield figure('SQLite', await sqliteBytes(turns));
  yield figure('PostgreSQL', await postgresBytes(turns));
}

async function sqliteBytes(turns: readonly Response[]): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), 'liminal-bench-'));
  try {
    const storage = await openSqliteStorage(dataDir);
    await saveAll(storage.store, turns);
    await storage.close();
    return readdirSync(dataDir)
      .map((name) => statSync(join(dataDir, name)).size)
      .reduce((sum, size) => sum + size, 0);
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

async function postgresBytes(turns: readonly Response[]): Promise<number> {
  const server = await startPostgres();
  try {
    const { store } = await openPostgres(server.url);
    await saveAll(store, turns);
    await store.close();
    const client = new pg.Client(server.url);
    await client.connect();
    // Vacuum now: the database does this by itself, but only after some time.
    await client.query('VACUUM (ANALYZE)');
    const { rows } = await client.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'liminal' AND c.relkind = 'r'`,
    );
    await client.end();
    return Number(rows[0]?.bytes);
  } finally {
    await server.stop();
  }
}

async function saveAll(store: ResponseStore, turns: readonly Response[]): Promise<void> {
  for (const turn of turns) await store.saveResponse(turn);
}

function turnOf(index: number): Response {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const time = Date.UTC(2026, 0, 1) + index * 60_000;
  const stamps = { startedAt: new Date(time).toISOString(), endedAt: new Date(time).toISOString() };
  const message = (content: string, part: string, origin: 'user' | 'agent'): OutputItem => ({
    id: `${id}-${part}`,
    type: 'message',
    origin,
    content,
    ...stamps,
  });
  const answers = parts.answers.map((length, n) => message(prose.take(length), `a${n}`, 'agent'));
  const calls = parts.outputs.flatMap((length, n): OutputItem[] => {
    const callId = `toolu_${index}_${n}`;
    const path = `/srv/project/src/module-${n}.ts`;
    return [
      {
        id: `${id}-c${n}`,
        type: 'function_call',
        origin: 'agent',
        name: 'Read',
        callId,
        arguments: JSON.stringify({ path }),
        ...stamps,
      },
      {
        id: `${id}-o${n}`,
        type: 'function_call_output',
        origin: 'tool_harness',
        callId,
        output: code.take(length),
        success: true,
        ...stamps,
      },
    ];
  });
  return {
    id,
    turnId: id,
    sessionId: 'session-1',
    modelId: 'model-1',
    providerId: 'claude-code',
    createdAt: time,
    updatedAt: time,
    status: 'complete',
    finishReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1 },
    lastSeq: 100,
    outputItems: [message(prose.take(parts.question), 'q', 'user'), ...calls, ...answers],
  };
}

function textOf(item: OutputItem): string {
  if (item.type === 'message') return item.content;
  if (item.type === 'function_call') return item.arguments;
  return item.type === 'function_call_output' ? item.output : '';
}

/** Returns the characters of a text that is repeated without end. */
class Source {
  readonly #text: string;
  #at = 0;

  constructor(folder: string, ending: string) {
    const root = new URL(folder, import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
    this.#text = files
      .filter((name) => name.endsWith(ending))
      .map((name) => readFileSync(new URL(name, root), 'utf8'))
      .join('\n');
  }

  take(length: number): string {
    const from = this.#at % (this.#text.length - length);
    this.#at = from + length;
    return this.#text.slice(from, from + length);
  }
}

const prose = new Source('../../docs/', '.md');
const code = new Source('../../packages/protocol/src/', '.ts');
