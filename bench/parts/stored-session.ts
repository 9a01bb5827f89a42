import { randomUUID } from 'node:crypto';
import type { OutputItem, Response } from '@liminal/protocol';
import { openSqliteStorage } from '@liminal/storage/sqlite';

const paragraph =
  'The loader reads the file, checks it against the schema and says where it is wrong. ';

interface Stored {
  cliType?: string;
  makeItem?: (id: string, index: number) => OutputItem;
}

/**
 * Stores a session as if it had been played here: the given number of items, in turns of 20, by default with texts of
 * the demo agent.
 */
export async function storeSession(
  dataDir: string,
  projectDir: string,
  items: number,
  { cliType = 'demo', makeItem = makeWords }: Stored = {},
): Promise<string> {
  const storage = await openSqliteStorage(dataDir);
  const sessionId = randomUUID();
  const time = new Date().toISOString();
  await storage.store.saveSession({
    sessionId,
    cliType,
    projectId: projectDir,
    projectDir,
    title: 'A long one',
    createdAt: time,
    updatedAt: time,
    active: true,
    failed: false,
    config: {},
    queue: [],
    imported: true,
    fence: 0,
  });
  await storage.store.importResponses(
    Array.from({ length: items / 20 }, (_, turn) => makeTurn(sessionId, turn, makeItem)),
  );
  await storage.close();
  return sessionId;
}

function makeTurn(
  sessionId: string,
  turn: number,
  makeItem: (id: string, index: number) => OutputItem,
): Response {
  const id = `${sessionId}/${turn}`;
  const at = Date.UTC(2026, 0, 1) + turn * 60_000;
  return {
    id,
    turnId: id,
    sessionId,
    modelId: 'demo',
    providerId: 'demo',
    createdAt: at,
    updatedAt: at + 30_000,
    status: 'complete',
    finishReason: 'end_turn',
    lastSeq: 100,
    outputItems: Array.from({ length: 20 }, (_, index) => makeItem(`${id}/${index}`, index)),
  };
}

function makeWords(id: string, index: number): OutputItem {
  const origin = index === 0 ? 'user' : 'agent';
  return { type: 'message', id, content: paragraph.repeat(5), origin };
}
