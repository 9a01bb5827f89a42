import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LiminalClient } from '@liminal/client';
import { blobIn, type ContentBlock } from '@liminal/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, Home } from './command.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let home: Home;
let client: LiminalClient;

beforeAll(async () => {
  home = new Home();
  client = clientOf(await home.serve());
});
afterAll(async () => {
  client.close();
  await home.close();
});

const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(home.project, name), content);
  return name;
};

const run = (prompt: string, ...files: string[]) =>
  home.start(
    ['run', prompt, '--agent', 'demo', '--set', 'pace=instant'].concat(
      files.flatMap((file) => ['--attach', file]),
    ),
  );

const sessions = async () =>
  (await client.requests.listProjects()).flatMap((one) =>
    one.sessions.map(({ sessionId }) => sessionId),
  );

/** What the session's first message has, as the server shows it. */
async function blocksOf(sessionId: string): Promise<ContentBlock[]> {
  const { entries } = await client.requests.history(sessionId);
  const said = entries.find((item) => item.type === 'message' && item.origin === 'user');
  return (said?.type === 'message' && said.blocks) || [];
}

async function bytesOf(block: ContentBlock): Promise<Buffer> {
  const file = await client.requests.getBlob(blobIn(block) ?? '');
  return Buffer.from(await file.arrayBuffer());
}

describe('run --attach', () => {
  test('sends files with the prompt, typed by their content or their name', async () => {
    const sound = Uint8Array.from([255, 251, 0, 1]);
    write('shot', png);
    write('notes.ts', 'const ä = 1;\n');
    write('voice.mp3', sound);
    const command = run('explain', 'shot', 'notes.ts', 'voice.mp3');
    const [, sessionId = ''] = await command.says(/^Session (\S+)$/m);
    expect(await command.exitCode).toBe(0);
    const blocks = await blocksOf(sessionId);
    expect(blocks).toMatchObject([
      { type: 'image', mimeType: 'image/png', name: 'shot', size: png.length },
      { type: 'resource', resource: { mimeType: 'text/plain', name: 'notes.ts' } },
      { type: 'audio', mimeType: 'audio/mpeg', name: 'voice.mp3' },
    ]);
    const bytes = await Promise.all(blocks.map(bytesOf));
    expect(bytes.map((one) => one.toString('hex'))).toEqual(
      [png, Buffer.from('const ä = 1;\n'), Buffer.from(sound)].map((one) => one.toString('hex')),
    );
  });

  test('sends a file without words', async () => {
    write('shot.png', png);
    const command = run('', 'shot.png');
    const [, sessionId = ''] = await command.says(/^Session (\S+)$/m);
    expect(await command.exitCode).toBe(0);
    expect(await blocksOf(sessionId)).toMatchObject([{ type: 'image', name: 'shot.png' }]);
  });

  test.each([
    ['a file that is not there', 'nowhere.png', /"nowhere.png" cannot be read: ENOENT/],
    ['a folder', '.', /"." is no file/],
    ['an empty file', 'empty.txt', /"empty.txt" is empty/],
    ['a file that is too large', 'large.bin', /"large.bin" has 21 MiB, and may have 20/],
  ])('says what is wrong with %s, and starts nothing', async (_, file, sentence) => {
    write('empty.txt', '');
    write('large.bin', '');
    truncateSync(join(home.project, 'large.bin'), 21 * 1024 * 1024);
    const before = await sessions();
    const command = run('explain', file);
    expect(await command.exitCode).toBe(2);
    expect(command.stderr).toMatch(sentence);
    expect(command.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(await sessions()).toEqual(before);
  });

  test('says what the agent says of a file that it does not take', async () => {
    write('film.mp4', Uint8Array.from([0, 0, 0, 24]));
    const command = run('explain', 'film.mp4');
    expect(await command.exitCode).toBe(1);
    expect(command.stderr).toMatch(/takes no such files.* Take “film.mp4” \(video\/mp4\) out/);
  });
});
