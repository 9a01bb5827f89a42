import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { ContentBlock } from '@liminal/protocol';
import { byPrompt, gate, reply, text } from '@liminal/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { length, patience, seed } from './length.ts';
import { FaultServer } from './server.ts';

/** When the server is killed, in ms after a deletion was requested. */
const moments = fc.sample(fc.nat(400), { seed, numRuns: length.crashesAmid });
const words = Array.from({ length: 2_000 }, (_, index) => `word${index}`).join(' ');

test(
  `INV-8 if a server is killed while it deletes a running session, afterwards it has all data of the session or none (${moments.length} times, seed ${seed})`,
  { timeout: patience(moments.length) },
  async () => {
    const script = byPrompt({
      'Say xylophone.': [reply('I said xylophone.')],
      'Talk.': [reply(text([words, gate()], { chunk: 12, delayMs: 4 }))],
    });
    const faults = await FaultServer.start({ script });
    const { requests, server } = faults;
    for (const [round, moment] of moments.entries()) {
      const sessionId = await faults.create();
      const reader = await faults.follow(sessionId);
      const notes = `# Notes ${round}\n`;
      const resource = { uri: 'notes', mimeType: 'text/markdown', name: 'notes.md', text: notes };
      const block: ContentBlock = { type: 'resource', resource };
      const first = await requests.send(sessionId, 'Say xylophone.', undefined, {
        blocks: [block],
      });
      await reader.ended(first.turnId);
      const second = await requests.send(sessionId, 'Talk.');
      await reader.until(() => reader.agentText(second.turnId).length > 100);
      // The server may be killed before it answers.
      const deleting = requests.deleteSession(sessionId).then(
        () => true,
        () => false,
      );
      await setTimeout(moment);
      await server.crash();
      const isDone = await deleting;
      await server.restart();
      await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);

      const projects = await requests.listProjects();
      const isThere = projects.some(({ sessions }) =>
        sessions.some((session) => session.sessionId === sessionId),
      );
      const { hits } = await requests.search('xylophone');
      const all = { words: true, first: 'complete', second: stringMatching(/^(error|aborted)$/) };
      const left = {
        words: hits.length > 0,
        first: isThere && (await faults.run(first.turnId))?.status,
        second: isThere && (await faults.run(second.turnId))?.status,
      };
      expect(left).toEqual(isThere ? all : { words: false, first: false, second: false });
      expect(isThere && isDone).toBe(false);
      if (isThere) await requests.deleteSession(sessionId);
      await expect(requests.loadSession(sessionId)).rejects.toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
    }
    await server.stop();
    expect(leftIn(faults.folders.dataDir)).toEqual({
      sessions: 0,
      responses: 0,
      items: 0,
      item_words: 0,
      runs: 0,
      events: 0,
      blobs: 0,
      blob_parts: 0,
      blob_holders: 0,
    });
  },
);

const stringMatching = (form: RegExp) => expect.stringMatching(form) as string;

/** Returns how many rows in the database of a stopped server belong to sessions. */
function leftIn(dataDir: string): Record<string, number> {
  const tables = ['sessions', 'responses', 'items', 'item_words', 'runs', 'events'];
  const all = [...tables, 'blobs', 'blob_parts', 'blob_holders'];
  const database = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true });
  try {
    return Object.fromEntries(
      all.map((table) => {
        const row = database.prepare(`SELECT count(*) AS count FROM ${table}`).get();
        return [table, Number(row?.['count'])];
      }),
    );
  } finally {
    database.close();
  }
}
