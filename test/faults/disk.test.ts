import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Requests } from '@liminal/client';
import { serverOperations, type UpsertObject } from '@liminal/protocol';
import { byPrompt, gate, reply, text } from '@liminal/testkit';
import { atLength, testAtLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { fillDisk, freeDisk, onFullDisk } from './disk.ts';
import { type SessionReader, textOf } from './session-reader.ts';
import { refusedStart } from './refused-start.ts';
import { FaultServer, shareServer } from './server.ts';

const codes = (reader: SessionReader) =>
  reader.messages.flatMap((message) => (message.type === 'session:error' ? message.code : []));

/** Matches the signs of a crash, which the server's log must never contain. */
const crash = /unhandled|uncaught|TypeError/i;

const shared = shareServer(() => ({}));

test('INV-6 INV-2 INV-8 if the disk fills during a turn, nothing is lost: readers get an error, new messages are rejected, and when the disk has space again everything is written in order; if a server is stopped while the disk is full, it stops in time and logs the loss, and the next server marks that turn', async () => {
  const [full, free, fullAgain] = [gate(), gate(), gate()];
  const script = byPrompt({
    'Begin.': [reply(text(['Before. ', full, 'Meanwhile. ', free, 'After.']))],
    'Go on.': [reply('Here I am.')],
    'Once more.': [reply(text(['Before. ', fullAgain, 'Lost.', gate()]))],
    'And on.': [reply('Here I am again.')],
  });
  const { faults, sessionId } = shared;
  const { server, requests } = faults;
  faults.api.play(script);
  const reader = await faults.follow(sessionId);
  const { turnId } = await requests.send(sessionId, 'Begin.');
  await reader.until(() => reader.agentText(turnId) === 'Before. ');

  fillDisk(server.pid);
  full.open();
  await free.reached;
  await reader.until(() => codes(reader).includes('LOG_WRITE_FAILED'));
  await expect(requests.send(sessionId, 'Refused.')).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
    status: 507,
    message: expect.stringContaining('free some space'),
  });
  await expect(requests.rename(sessionId, 'Refused')).rejects.toMatchObject({ status: 507 });
  // The session can still be read: its history contains the part of the turn that the log contains.
  const late = await faults.follow(sessionId);
  expect(late.agentText(turnId)).toBe('Before. ');
  expect(reader.agentText(turnId)).toBe('Before. ');

  freeDisk(server.pid);
  await reader.until(() => reader.agentText(turnId) === 'Before. Meanwhile. ');
  free.open();
  for (const each of [reader, late]) {
    expect(await each.ended(turnId)).toMatchObject({ status: 'complete' });
    expect(each.agentText(turnId)).toBe('Before. Meanwhile. After.');
    expect(each.ends(turnId)).toEqual(['turn_complete']);
  }
  const next = await requests.send(sessionId, 'Go on.');
  expect(await reader.ended(next.turnId)).toMatchObject({ status: 'complete' });
  expect(faults.api.requests.map(({ prompt }) => prompt)).not.toContain('Refused.');

  const stored = async () => Promise.all([turnId, next.turnId].map((id) => faults.run(id)));
  const before = await stored();

  const { turnId: lost } = await requests.send(sessionId, 'Once more.');
  await reader.until(() => reader.agentText(lost) === 'Before. ');
  const told = codes(reader).length;
  fillDisk(server.pid);
  fullAgain.open();
  await reader.until(() => codes(reader).slice(told).includes('LOG_WRITE_FAILED'));
  const begun = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(server.log).toMatch(/\d+ events \(\d+ characters\) of turn \S+ are lost/);

  await server.restart();
  expect(await stored()).toEqual(before);
  const after = await faults.follow(sessionId);
  expect(after.turns.map((turn) => after.agentText(turn.turnId))).toEqual([
    'Before. Meanwhile. After.',
    'Here I am.',
    'Before. ',
  ]);
  expect(after.turn(lost)).toMatchObject({ status: 'error', error: { code: 'OWNER_LOST' } });
  const last = await requests.send(sessionId, 'And on.');
  expect(await after.ended(last.turnId)).toMatchObject({ status: 'complete' });
  expect(server.log).not.toMatch(crash);
  await requests.kill(sessionId);
});

test('INV-6 SAFE: if a server’s own log is on the full disk, only lines of this log are lost: turns, sign-outs and files are written when the disk has space again, and the log contains the number of lost lines', async () => {
  const [full, free] = [gate(), gate()];
  const script = byPrompt({ 'Begin.': [reply(text(['Before. ', full, 'Meanwhile. ', free]))] });
  const faults = await FaultServer.start({ script, logsToFile: true });
  const { server, requests, folders } = faults;
  const sessionId = await faults.create();
  const reader = await faults.follow(sessionId);
  const { turnId } = await requests.send(sessionId, 'Begin.');
  await reader.until(() => reader.agentText(turnId) === 'Before. ');
  const signOut = async () => {
    const answer = await fetch(server.origin + serverOperations.signOut.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: '{"everywhere":true}',
    });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await signOut()).toMatchObject({ status: 200 });
  const signedOut = join(folders.dataDir, 'signed-out.json');
  const before = readFileSync(signedOut, 'utf8');

  fillDisk(server.pid);
  full.open();
  await free.reached;
  await reader.until(() => codes(reader).includes('LOG_WRITE_FAILED'));
  expect(await signOut()).toMatchObject({
    status: 507,
    body: { error: { code: 'STORE_WRITE_FAILED' } },
  });
  expect(readFileSync(signedOut, 'utf8')).toBe(before);

  freeDisk(server.pid);
  free.open();
  expect(await reader.ended(turnId)).toMatchObject({ status: 'complete' });
  expect(reader.agentText(turnId)).toBe('Before. Meanwhile. ');
  await expect
    .poll(() => server.log, { timeout: 60_000 })
    .toMatch(/"lost":\d+.*log lines were lost/);
  await expect.poll(() => readFileSync(signedOut, 'utf8'), { timeout: 60_000 }).not.toBe(before);
  const lines = server.log.split('\n').filter((line) => line.startsWith('{'));
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('msg');
  expect(readdirSync(folders.dataDir).filter((name) => name.endsWith('.new'))).toEqual([]);
});

testAtLength(
  'if more than 16 MiB of events wait, the turn ends with LOG_UNAVAILABLE, and its agent ends; the events are written when the disk has space again',
  async () => {
    // The model waits for the test, so that the turn does not end by itself before the limit is checked.
    const [full, never] = [gate(), gate()];
    const megabyte = 'All work and no play. '.repeat(50_000);
    // A single item can hold less than 16 MiB.
    const items = Array.from({ length: atLength ? 16 : 4 }, () => Array<string>(5).fill(megabyte));
    const flood = items.flat();
    const blocks = items.map((each) => text(each, { delayMs: 50 }));
    const { faults } = shared;
    const { server, requests } = faults;
    faults.api.play([reply([text(['Before. ', full]), ...blocks, text([never, 'After.'])])]);
    const sessionId = await faults.create();
    const reader = await faults.follow(sessionId);
    const { turnId } = await requests.send(sessionId, 'Begin.');
    await reader.until(() => reader.agentText(turnId) === 'Before. ');
    fillDisk(server.pid);
    full.open();
    await reader.until(() => codes(reader).includes('LOG_UNAVAILABLE'));
    await expect.poll(() => faults.others, { timeout: 30_000 }).toEqual([]);
    expect(reader.agentText(turnId)).toBe('Before. ');

    freeDisk(server.pid);
    expect(await reader.ended(turnId)).toMatchObject({
      status: 'error',
      error: { code: 'LOG_UNAVAILABLE' },
    });
    // A page of history contains only a part of the text.
    const said = (await wholeHistory(requests, sessionId)).map(textOf).join('');
    const all = `Before. ${flood.join('')}After.`;
    // Each text is counted twice while it waits: in its deltas, and in the end of its item.
    expect(2 * said.length).toBeGreaterThan(16 * 1024 * 1024);
    expect(said.length).toBeLessThan(all.length);
    expect(all.startsWith(said)).toBe(true);
  },
);

test('if a session cannot be stored, it is not created, and no process is left', async () => {
  const { faults } = shared;
  const { server, requests } = faults;
  const sessions = async () => (await requests.listProjects()).flatMap((one) => one.sessions);
  const { length: before } = await sessions();
  fillDisk(server.pid);
  await expect(faults.create('demo')).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
    status: 507,
  });
  expect(await sessions()).toHaveLength(before);
  expect(faults.others).toEqual([]);
  freeDisk(server.pid);
  await faults.create('demo');
  expect(await sessions()).toHaveLength(before + 1);
});

test('if the disk is full from the start, the server reports this and does not start; its data is complete when the disk has space again', async () => {
  const { faults } = shared;
  const { server, requests, folders } = faults;
  const sessionId = await faults.create('demo');
  await requests.setConfig(sessionId, 'pace', 'instant');
  const reader = await faults.follow(sessionId);
  const { turnId } = await requests.send(sessionId, 'explain');
  await reader.ended(turnId);
  const said = reader.agentText(turnId);
  expect(said).not.toBe('');
  // Fill the disk during a turn. Then the next server must write the end of this turn.
  await requests.setConfig(sessionId, 'pace', 'normal');
  const open = await requests.send(sessionId, 'slow');
  await reader.until(() => reader.turn(open.turnId));
  await server.crash();

  for (const dataDir of [folders.dataDir, join(folders.root, 'new')]) {
    const { exitCode, stdout, stderr } = await refusedStart(dataDir, folders.home, onFullDisk);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^The data folder .* cannot be used: .*is full; .*free some space.*\n$/);
    expect(stderr).toContain(dataDir);
  }
  await server.restart();
  const after = await faults.follow(sessionId);
  expect(after.agentText(turnId)).toBe(said);
  expect(after.turn(open.turnId)).toMatchObject({ error: { code: 'OWNER_LOST' } });
});

async function wholeHistory(requests: Requests, sessionId: string): Promise<UpsertObject[]> {
  const entries: UpsertObject[] = [];
  for (let before: string | undefined, hasMore = true; hasMore;) {
    const page = await requests.history(sessionId, before === undefined ? {} : { before });
    entries.unshift(...page.entries);
    ({ before, hasMore } = page);
  }
  return entries;
}
