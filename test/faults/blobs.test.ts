import { createHash, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { testAtLength } from '@liminal/testkit/at-length';
import type { ContentBlock } from '@liminal/protocol';
import { reply } from '@liminal/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillDisk, freeDisk } from './disk.ts';
import { length, patience, seed } from './length.ts';
import { type FaultServer, shareServer } from './server.ts';

/** Tests in this file depend on each other: blobs that one test stores are in the database during the next test. */
const shared = shareServer(() => ({ script: () => reply('Read.') }));

const markdown = { type: 'text/markdown' };
const addressOf = (text: string): string =>
  `blob:${createHash('sha256').update(text).digest('hex')}`;
const hashIn = (uri: string): string => uri.slice('blob:'.length);
const named = (uri: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType: markdown.type, name: 'notes.md' },
});
/**
 * Returns the block as it is shown. The log has lost the message, so the message is read from Claude Code's own store,
 * which gives each text the type text/plain.
 */
const shownAs = (uri: string) => ({ type: 'resource', resource: { uri, name: 'notes.md' } });
const inline = (text: string): ContentBlock => ({
  type: 'resource',
  resource: { uri: 'notes', mimeType: markdown.type, name: 'notes.md', text },
});

/** Returns the blobs in the database: the complete blobs, and the number of incomplete blobs. */
function kept({ dataDir }: FaultServer['folders']): { whole: string[]; halves: number } {
  const database = new DatabaseSync(join(dataDir, 'liminal.db'), { readOnly: true });
  try {
    // The settings that agents report are stored as JSON blobs. Do not count these blobs.
    const select = "SELECT hash FROM blobs WHERE mime_type <> 'application/json' ORDER BY hash";
    const hashes = database.prepare(select).all();
    const whole = hashes.flatMap(({ hash }) => (hash === null ? [] : `blob:${String(hash)}`));
    return { whole, halves: hashes.length - whole.length };
  } finally {
    database.close();
  }
}

test('a file of a wrong type is rejected, both alone and in a message, and leaves neither bytes nor a turn', async () => {
  const { faults, sessionId } = shared;
  const { requests } = faults;
  const wrong = { code: 'BLOB_TYPE_WRONG' };
  await expect(
    requests.putBlob(new Blob(['no image'], { type: 'image/png' })),
  ).rejects.toMatchObject(wrong);
  const data = Buffer.from('no image').toString('base64');
  const blocks: ContentBlock[] = [{ type: 'image', mimeType: 'image/png', data }];
  await expect(requests.send(sessionId, 'Look.', undefined, { blocks })).rejects.toMatchObject(
    wrong,
  );
  const zip = await requests.putBlob(new Blob(['zip'], { type: 'application/zip' }));
  const archive: ContentBlock = {
    type: 'resource',
    resource: { uri: zip.uri, mimeType: 'application/zip', name: 'a.zip' },
  };
  await expect(
    requests.send(sessionId, 'Unpack.', undefined, { blocks: [archive] }),
  ).rejects.toMatchObject({ code: 'CONTENT_NOT_SUPPORTED' });

  expect((await faults.follow(sessionId)).turns).toEqual([]);
  expect(faults.api.requests.filter(({ kind }) => kind === 'main')).toEqual([]);
  // The file was uploaded, and another message may still use the file. The file is removed after a day.
  expect(kept(faults.folders)).toEqual({ whole: [zip.uri], halves: 0 });
});

test('on a full disk, files and messages with files are rejected without leaving partial data; when the disk has space again, they are accepted', async () => {
  const { faults, sessionId } = shared;
  const { requests, server } = faults;
  const reader = await faults.follow(sessionId);
  const { whole } = kept(faults.folders);
  const text = 'x '.repeat(100_000);
  const full = { code: 'STORE_WRITE_FAILED', status: 507 };

  fillDisk(server.pid);
  const file = new Blob([text], markdown);
  await expect(requests.putBlob(file)).rejects.toMatchObject({
    ...full,
    message: expect.stringContaining('free some space'),
  });
  const sending = requests.send(sessionId, 'Refused.', randomUUID(), { blocks: [inline(text)] });
  await expect(sending).rejects.toMatchObject(full);
  freeDisk(server.pid);

  await expect(requests.getBlob(hashIn(addressOf(text)))).rejects.toMatchObject({ status: 404 });
  const { uri } = await requests.putBlob(file);
  expect(uri).toBe(addressOf(text));
  const { turnId } = await requests.send(sessionId, 'Read.', undefined, { blocks: [named(uri)] });
  expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
  expect(reader.turns.map((turn) => turn.turnId)).toEqual([turnId]);
  expect(faults.api.requests.map(({ prompt }) => prompt)).not.toContain('Refused.');
  expect(kept(faults.folders)).toEqual({ whole: [...whole, uri].sort(), halves: 0 });
});

testAtLength(
  `if the same file is sent ${length.duplicates} times, as uploads and in messages, it is stored once`,
  async () => {
    const { faults, sessionId } = shared;
    const { requests, server } = faults;
    const text = 'same '.repeat(20_000);
    const upload = () => requests.putBlob(new Blob([text], markdown));
    const { whole } = kept(faults.folders);
    const uris = new Set<string>();
    for (let left = length.duplicates; left > 0; left -= 20) {
      for (const { uri } of await Promise.all(Array.from({ length: 20 }, upload))) uris.add(uri);
    }
    for (const block of [inline(text), named(addressOf(text))]) {
      const reader = await faults.follow(sessionId);
      const { turnId } = await requests.send(sessionId, 'Read.', undefined, { blocks: [block] });
      await reader.ended(turnId);
    }
    expect([...uris]).toEqual([addressOf(text)]);
    expect(await server.stop()).toBe(0);
    expect(kept(faults.folders)).toEqual({ whole: [...whole, addressOf(text)].sort(), halves: 0 });
    const { size } = await stat(join(faults.folders.dataDir, 'liminal.db'));
    expect(size).toBeLessThan(20 * text.length);
    await server.restart();
  },
);

/** When the server is killed, in ms after a file and its message were sent. */
const moments = fc.sample(fc.nat(400), { seed, numRuns: length.crashesAmid });

test(
  `INV-2 INV-6 if a server is killed between storing a file and its message, neither is lost, and the message is sent once (${moments.length} times, seed ${seed})`,
  { timeout: patience(moments.length) },
  async () => {
    const { faults, sessionId } = shared;
    const { requests, server } = faults;
    const { whole } = kept(faults.folders);
    const { length: before } = (await faults.follow(sessionId)).turns;
    const files: string[] = [];
    for (const [round, moment] of moments.entries()) {
      const text = `# Round ${round}\n${'line\n'.repeat(20_000)}`;
      const turnId = randomUUID();
      const say = async () => {
        const { uri } = await requests.putBlob(new Blob([text], markdown));
        await requests.send(sessionId, `Read ${round}.`, turnId, { blocks: [named(uri)] });
      };
      const first = say().catch(() => 'The server was killed.');
      await setTimeout(moment);
      await server.crash();
      await first;
      await server.restart();

      // The client got no answer, so it sends the message again.
      await say();
      const reader = await faults.follow(sessionId);
      const { status, items } = await reader.ended(turnId);
      expect(['complete', 'error']).toContain(status);
      const words = items.filter((item) => item.type === 'message' && item.origin === 'user');
      expect(words).toMatchObject([
        { content: `Read ${round}.`, blocks: [shownAs(addressOf(text))] },
      ]);
      expect(reader.turns).toHaveLength(before + round + 1);
      files.push(text);
      const file = await requests.getBlob(hashIn(addressOf(text)));
      expect(await file.text()).toBe(text);
      reader.close();
    }
    const asked = (round: number) => faults.api.requests.filter(saysLast(`Read ${round}.`));
    for (const [round, text] of files.entries()) {
      for (const { body } of asked(round)) {
        expect(JSON.stringify(body.messages)).toContain(JSON.stringify(text).slice(1, -1));
      }
    }
    expect(await server.stop()).toBe(0);
    expect(kept(faults.folders)).toEqual({
      whole: [...whole, ...files.map(addressOf)].sort(),
      halves: 0,
    });
  },
);

const saysLast = (words: string) => (request: { kind: string; prompt: string }) =>
  request.kind === 'main' && request.prompt === words;
