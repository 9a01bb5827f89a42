/** Exports a session to a file, and imports the file, with the commands. */
import { readFileSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { LiminalClient } from '@liminal/client';
import { plantedSecrets } from '@liminal/protocol/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientOf, Home, type Server, createSessionWithTurns } from './command.ts';

let home: Home;
let server: Server;
let client: LiminalClient;
let other: Home;
const known = 'correct-horse-battery-staple';

beforeAll(async () => {
  [home, other] = [new Home(), new Home()];
  server = await home.serve([], { DEPLOY_PASSPHRASE: known });
  client = clientOf(server);
});
afterAll(async () => {
  client.close();
  await home.close();
  await other.close();
});

test('a session can be moved to another server in a file that contains no secrets and that only its owner can read', async () => {
  const planted = plantedSecrets.map(({ around, secret }) => around.replace('¤', () => secret));
  const prompt = ['fix', ...planted, `my ${known} and ${server.token}`].join('\n');
  const sessionId = await createSessionWithTurns(client, home.project, prompt);
  const file = join(home.folder, 'bug.jsonl.gz');
  const exporting = home.start(['export', sessionId, '--out', file]);
  expect(await exporting.exitCode).toBe(0);
  expect(exporting.stdout).toBe(`${file}\n`);
  expect(exporting.stderr).toMatch(
    /^1 turn, 0 files, [\d.]+ MiB\.\nRemoved secrets: .*anthropic-key \d+×/,
  );
  expect((await stat(file)).mode & 0o077).toBe(0);

  const text = gunzipSync(readFileSync(file)).toString();
  for (const { secret } of plantedSecrets) {
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  expect(text).not.toContain(known);
  expect(text).not.toContain(server.token);
  expect(text).toContain('[secret: known]');

  const there = await other.serve();
  const importing = other.start(['import', file]);
  expect(await importing.exitCode).toBe(0);
  expect(importing.stdout).toBe(`${sessionId}\n`);
  const again = await other.play('import', file);
  expect(again).toMatchObject({ exitCode: 0, stdout: `${sessionId}\n` });
  expect(again.stderr).toContain('was imported before');
  const far = clientOf(there);
  const [turn] = (await client.requests.history(sessionId)).turns;
  const [ours, theirs] = [
    await client.requests.getRun(turn!.runId),
    await far.requests.getRun(turn!.runId),
  ];
  const [said, ...rest] = ours.outputItems;
  const [saidThere, ...restThere] = theirs.outputItems;
  expect(restThere).toEqual(rest);
  expect({ ...saidThere, content: '' }).toEqual({ ...said, content: '' });
  await expect(far.requests.send(sessionId, 'Go on')).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    status: 409,
  });
  far.close();
});

test('a failed export or import prints one sentence, and leaves no file', async () => {
  const file = join(home.folder, 'none.jsonl');
  const unknown = await home.play('export', 'nobody', '--out', file);
  expect(unknown).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('There is no session nobody.') as string,
  });
  await expect(stat(file)).rejects.toThrow('ENOENT');
  await expect(stat(`${file}.part`)).rejects.toThrow('ENOENT');

  const missing = await home.play('import', file);
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(file) });
  writeFileSync(file, '{"liminal":"export","version":99}\n');
  for (const command of ['import', 'replay']) {
    const newer = await home.play(command, file);
    expect(newer).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('newer Liminal') });
  }
  // The file is large and is not an export. The server reads the file to its end and reports the error.
  writeFileSync(file, 'x'.repeat(20 * 1024 * 1024));
  const strange = await home.play('import', file);
  expect(strange).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('first line') });
});
