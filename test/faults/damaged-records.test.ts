/**
 * Flips random bits in a server's database. The server must still start, and everything except the damaged records must
 * work.
 */
import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ApiError, createRequests, type Requests } from '@liminal/client';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LiminalServer } from '../e2e/server.ts';
import { length, patience, seed } from './length.ts';

const sessions = 5;
/** The columns that contain JSON, each with the condition for rows of the session `?`, which is not damaged. */
const columns = [
  ['sessions', 'record', 'session_id = ?'],
  ['responses', 'head', 'session_id = ?'],
  ['items', 'item', 'response_key IN (SELECT response_key FROM responses WHERE session_id = ?)'],
  // The log contains only the running turn, so its rows need no condition.
  ['runs', 'constants', '? IS NULL'],
  ['events', 'payload', '? IS NULL'],
] as const;

let root: string;
let project: string;
let used: string;
let whole: string;
let ids: string[];
let wholeHistory: string;

const env = () => ({ PATH: process.env['PATH'] ?? '', HOME: root });
const servers: LiminalServer[] = [];
const start = async (dataDir: string) => {
  const server = await LiminalServer.start({ dataDir, env: env() });
  servers.push(server);
  const requests = createRequests({ baseUrl: server.origin, token: server.token });
  return { server, requests };
};

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-damage-')));
  [project, used] = [join(root, 'project'), join(root, 'used')];
  for (const folder of [project, used]) await mkdir(folder);
  await writeFile(join(used, 'liminal.json'), JSON.stringify({ roots: [project], endLimitMs: 0 }));
  const { server, requests } = await start(used);
  const make = async (pace: string, ...prompts: string[]): Promise<string> => {
    const { sessionId } = await requests.createSession({ cliType: 'demo', projectDir: project });
    await requests.setConfig(sessionId, 'pace', pace);
    for (const prompt of prompts) {
      await requests.send(sessionId, prompt);
      if (pace === 'instant') await idle(requests, sessionId);
    }
    return sessionId;
  };
  whole = await make('instant', 'explain', 'tools');
  ids = [];
  for (let at = 1; at < sessions; at += 1) ids.push(await make('instant', 'explain', 'tools'));
  // This makes a running turn and a queued message.
  ids.push(await make('normal', 'slow', 'explain'));
  wholeHistory = await historyOf(requests, whole);
  await server.crash();
}, 120_000);
afterAll(async () => {
  // Only a failed test leaves the server running. `crash` has no effect on a server that has stopped.
  for (const server of servers) await server.crash();
  await rm(root, { recursive: true, force: true });
});

async function idle(requests: Requests, sessionId: string): Promise<void> {
  await vi.waitFor(
    async () => expect((await requests.status(sessionId)).state).toMatch(/idle|failed/),
    { timeout: 30_000, interval: 50 },
  );
}

/** Returns a page of history as JSON, without the time at which it was sent. */
async function historyOf(requests: Requests, sessionId: string): Promise<string> {
  const page = await requests.history(sessionId);
  return JSON.stringify(page, (key, value: unknown) => (key === 'emittedAt' ? undefined : value));
}

/** In some rows of other sessions, flips one bit each. The text stays ASCII. Returns descriptions of the changes. */
function damage(dataDir: string, random: () => number): string[] {
  const database = new DatabaseSync(join(dataDir, 'liminal.db'));
  const flips: string[] = [];
  for (const [table, column, isWhole] of columns) {
    database.function('flipped', (json) => {
      if (random() < 0.5) return json;
      const text = String(json);
      const bytes = Buffer.from(text);
      // Most flips damage the name of a field near the start of the text. The text is then still JSON, but does not
      // match its schema.
      const names = [...text.slice(0, 600).matchAll(/"(\w+)":/g)];
      const name = random() < 0.8 ? names[Math.floor(random() * names.length)] : undefined;
      const place = name ? name.index + 2 : Math.floor(random() * bytes.length);
      const bit = Math.floor(random() * (name ? 3 : 7));
      bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
      flips.push(`${table}: ${bytes.toString().slice(Math.max(0, place - 20), place + 20)}`);
      return bytes.toString();
    });
    database
      .prepare(`UPDATE ${table} SET ${column} = flipped(${column}) WHERE NOT (${isWhole})`)
      .run(whole);
  }
  database.close();
  return flips;
}

function recordsIn(dataDir: string): Map<unknown, unknown> {
  const database = new DatabaseSync(join(dataDir, 'liminal.db'));
  const rows = database.prepare('SELECT session_id, record FROM sessions').all();
  database.close();
  return new Map(rows.map(({ session_id, record }) => [session_id, record]));
}

/** Rejects if a request fails with an internal error. */
async function answered(what: string, request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    const status = error instanceof ApiError ? error.status : 500;
    const isNamed = error instanceof ApiError && error.code === 'STORE_READ_FAILED';
    if (status >= 500 && !isNamed) throw new Error(what, { cause: error });
  });
}

const rounds = Math.max(2, Math.round(length.hostile / 500));

test(
  'SAFE: if random bits in a server’s records are flipped, the server starts, lists all undamaged sessions, never answers with an internal error, and does not change the records that it cannot read',
  async () => {
    const random = (of: number) => {
      const [numbers = []] = fc.sample(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
          minLength: 5_000,
          maxLength: 5_000,
        }),
        { numRuns: 1, seed: of },
      );
      let next = 0;
      return () => Math.min(numbers[next++ % numbers.length] ?? 0, 0.999_999);
    };
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = join(root, `round-${round}`);
      cpSync(used, dataDir, { recursive: true });
      const flips = damage(dataDir, random(seed + round));
      const about = `seed ${seed}, round ${round}:\n${flips.join('\n')}`;
      const before = recordsIn(dataDir);
      const { server, requests } = await start(dataDir).catch((error: unknown) => {
        throw new Error(about, { cause: error });
      });
      const listed = (await requests.listProjects()).flatMap(({ sessions }) => sessions);
      const shown = new Set(listed.map(({ sessionId }) => sessionId));
      expect(shown, about).toContain(whole);
      expect(await historyOf(requests, whole), about).toBe(wholeHistory);
      const unread = ids.filter((id) => !shown.has(id));
      for (const id of unread)
        expect(server.log, about).toContain(`The session ${id} cannot be read`);
      for (const id of ids) {
        await answered(about, requests.history(id));
        await answered(about, requests.status(id));
        await answered(about, requests.setConfig(id, 'pace', 'instant'));
        await answered(about, requests.send(id, 'explain'));
      }
      await answered(about, requests.search('explain'));
      await requests.setConfig(whole, 'pace', 'instant');
      const { turnId } = await requests.send(whole, 'explain');
      await idle(requests, whole);
      expect((await requests.history(whole)).turns.at(-1), about).toMatchObject({
        turnId,
        status: 'complete',
      });
      expect(await server.stop()).toBe(0);
      const after = recordsIn(dataDir);
      for (const id of unread) expect(after.get(id), about).toBe(before.get(id));
      expect(server.log, about).not.toMatch(/unhandled|TypeError|RangeError|INTERNAL/);
    }
  },
  patience(rounds),
);
