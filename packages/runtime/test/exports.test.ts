/** Exporting a session to a file, and importing it. */
import { gzipSync } from 'node:zlib';
import {
  type ContentBlock,
  emptyResponse,
  foldResponse,
  type Response,
  responseToUpserts,
  toResponse,
} from '@liminal/protocol';
import { plantedSecrets } from '@liminal/protocol/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedParts } from '../src/index.ts';
import { startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

let world: World;
let other: World;
let sessionId: string;

beforeEach(async () => {
  world = await startWorld();
  other = await startWorld({}, { medium: openMedium('sqlite') });
  const { projectDir } = world;
  ({ sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir }));
});
afterEach(async () => {
  await world.end();
  await other.end();
});

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk', 'base64');
const image: ContentBlock = {
  type: 'image',
  mimeType: 'image/png',
  data: png.toString('base64'),
  name: 'a.png',
};

async function begun(text: string, blocks: ContentBlock[] = []): Promise<string> {
  return (await world.runtime.send(sessionId, text, undefined, { blocks })).turnId;
}

async function done(): Promise<void> {
  world.agent.finish(sessionId);
  await expect.poll(async () => (await world.runtime.status(sessionId)).state).toBe('idle');
}

async function exported(id = sessionId, from = world): Promise<string> {
  const pieces = await from.runtime.exportSession(id, { liminal: '0.1.0' });
  return (await Array.fromAsync(pieces)).join('');
}

async function* bytesOf(...pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece as string);
}

const imported = async (...file: (string | Uint8Array)[]) =>
  other.runtime.importSession(bytesOf(...file));

const partsOf = async (file: string) => Array.fromAsync(checkedParts(bytesOf(file)));

async function runsOf(id: string, where: World): Promise<Response[]> {
  const heads = (await where.storage.store.listRuns(id)) ?? [];
  return Promise.all(heads.map((head) => where.runtime.getRun(head.id)));
}

describe('an exported session', () => {
  test('has the same runs, upserts, images and ids on another server', async () => {
    const turnId = await begun('Look at this.', [image]);
    world.agent.call(sessionId, `${turnId}-c`);
    world.agent.text(sessionId, `${turnId}-a`, 'One ', 'two.');
    await done();
    await begun('And now?');
    await done();

    const file = await exported();
    const result = await imported(file);
    expect(result).toEqual({
      sessionId,
      cliType: 'scripted',
      title: 'Look at this.',
      runs: 2,
      wasThere: false,
    });
    const [ours, theirs] = [await runsOf(sessionId, world), await runsOf(sessionId, other)];
    expect(theirs).toEqual(ours);
    const upserts = (runs: Response[]) => runs.flatMap((run) => responseToUpserts(run, ''));
    expect(upserts(theirs)).toEqual(upserts(ours));
    const { entries } = await other.runtime.history(sessionId);
    const [hash = ''] = /(?<=blob:)[0-9a-f]{64}/.exec(JSON.stringify(entries)) ?? [];
    expect(Buffer.from((await other.runtime.getBlob(hash)).bytes)).toEqual(png);
    const { hits } = await other.runtime.search('two', { limit: 5 });
    expect(hits).toMatchObject([{ sessionId, item: { runId: turnId } }]);
  });

  test('lets other tasks run while secrets are removed from a large run', async () => {
    const turnId = await begun('Go.');
    world.agent.text(sessionId, `${turnId}-a`, 'a key and a token of words '.repeat(250_000));
    await done();
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await exported();
    isDone = true;
    // Each rule reads the text of the run, and then the texts of the events, in several steps.
    expect(turns).toBeGreaterThan(30);
  });

  test('can be read but not continued: operations that need its agent are rejected with a reason', async () => {
    const turnId = await begun('Hello');
    await done();
    await imported(await exported());
    const { runtime } = other;
    expect((await runtime.info(sessionId)).session).toMatchObject({
      title: 'Hello',
      active: false,
      importedFrom: { sessionId, exportedAt: expect.any(String) },
    });
    expect(await runtime.loadSession(sessionId)).toEqual({ sessionId, cliType: 'scripted' });
    const refused = { code: 'NOT_SUPPORTED', message: expect.stringContaining('imported') };
    await expect(runtime.send(sessionId, 'Go on')).rejects.toMatchObject(refused);
    await expect(runtime.steer(sessionId, 'Go on')).rejects.toMatchObject(refused);
    await expect(runtime.fork(sessionId)).rejects.toMatchObject(refused);
    await expect(runtime.rewind(sessionId, turnId)).rejects.toMatchObject(refused);
    await expect(runtime.setConfig(sessionId, 'a', 'b')).rejects.toMatchObject(refused);
    await runtime.prewarm(sessionId);
    const notHere = { code: 'FILE_NOT_ALLOWED' };
    await expect(runtime.readFile(sessionId, 'a.txt')).rejects.toMatchObject(notHere);
    await expect(runtime.readFile(sessionId, '/etc/hostname')).rejects.toMatchObject(notHere);
    expect(other.agent.loads).toEqual([]);
    await runtime.archive(sessionId);
    await runtime.deleteSession(sessionId);
    await expect(runtime.info(sessionId)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  test('imported twice exists once; if its ids are taken, it gets others', async () => {
    await begun('Hello');
    await done();
    const file = await exported();
    await imported(file);
    expect(await imported(file)).toMatchObject({ sessionId, runs: 1, wasThere: true });
    expect(await other.storage.store.listSessions()).toHaveLength(1);

    const here = await world.runtime.importSession(bytesOf(file));
    expect(here.wasThere).toBe(false);
    expect(here.sessionId).not.toBe(sessionId);
    const [original] = await runsOf(sessionId, world);
    const [copy] = await runsOf(here.sessionId, world);
    expect(copy).toEqual({
      ...original,
      id: copy!.id,
      turnId: copy!.id,
      sessionId: here.sessionId,
    });
    expect(copy!.id).not.toBe(original!.id);
    // A session that was deleted does not get its id back.
    await other.runtime.deleteSession(sessionId);
    expect((await imported(file)).sessionId).not.toBe(sessionId);
  });

  test('during a turn has the events so far; on import that turn is over', async () => {
    const turnId = await begun('Go');
    world.agent.text(sessionId, `${turnId}-a`, 'Half a sen');
    await expect.poll(async () => (await exported()).includes('Half a sen')).toBe(true);
    const file = await exported();
    const [, , run] = await partsOf(file);
    if (run?.type !== 'run') throw new Error('There is no run.');
    expect(toResponse(run.events!.reduce(foldResponse, emptyResponse()))).toEqual(run.run);
    await imported(file);
    const [there] = await runsOf(sessionId, other);
    expect(there).toMatchObject({ status: 'error', error: { code: 'EXPORTED_EARLY' } });
    expect(there?.outputItems).toContainEqual(
      expect.objectContaining({ content: 'Half a sen', endedAt: expect.any(String) }),
    );
    // The file has no end of the turn's events, so they are not archived.
    expect(await other.storage.eventArchive?.read(turnId)).toEqual([]);
    const again = (await partsOf(await exported(sessionId, other))).find(
      ({ type }) => type === 'run',
    );
    expect(again).toMatchObject({ run: { id: turnId, status: 'error' } });
    expect(again).not.toHaveProperty('events');
  });

  test('has none of the planted secrets in its texts, files and titles, wherever a text is cut, and none of the server’s own secrets', async () => {
    const all = plantedSecrets.map(({ around, secret }) => around.replace('¤', () => secret));
    const text = all.join('\n\n');
    const file = { uri: 'a.env', mimeType: 'text/plain', text };
    const turnId = await begun(`My ${plantedSecrets[0]!.secret}`, [
      { type: 'resource', resource: file },
    ]);
    const pieces = text.match(/[\s\S]{1,7}/g) ?? [];
    world.agent.text(sessionId, `${turnId}-a`, ...pieces);
    await expect.poll(async () => (await exported()).includes('port: 1')).toBe(true);
    const midway = await exported();
    await done();
    const after = await exported();
    for (const one of [midway, after]) {
      const parts = await partsOf(one);
      const blob = parts.find((part) => part.type === 'blob');
      const shown = one + String(blob?.bytes) + JSON.stringify(parts);
      for (const { secret } of plantedSecrets) expect(shown).not.toContain(secret);
      expect(shown).toContain('[secret: aws-access-key]');
      await imported(
        one.replace(/"exportedAt":"[^"]+"/, `"exportedAt":"${new Date(0).toISOString()}"`),
      );
    }
    const [, , , run] = await partsOf(midway);
    if (run?.type !== 'run') throw new Error('There is no run.');
    expect(toResponse(run.events!.reduce(foldResponse, emptyResponse()))).toEqual(run.run);
  });
});

describe.each(['memory', 'sqlite'] as const)('keepEvents, in %s,', (driver) => {
  test('archives the events of finished turns, also of a turn that a crash cut off; they are removed with their session', async () => {
    await world.end();
    world = await startWorld({ keepEvents: true }, { medium: openMedium(driver) });
    const { projectDir } = world;
    ({ sessionId } = await world.runtime.createSession({ cliType: 'scripted', projectDir }));
    const turnId = await begun('One');
    world.agent.text(sessionId, `${turnId}-a`, 'Re: ', 'One');
    await done();
    const cut = await begun('Two');
    world.agent.text(sessionId, `${cut}-a`, 'Half');
    await expect.poll(async () => (await exported()).includes('Half')).toBe(true);
    world = await world.restart();

    const file = await exported();
    const runs = (await partsOf(file)).filter((part) => part.type === 'run');
    expect(runs).toHaveLength(2);
    for (const { run, events = [] } of runs) {
      expect(toResponse(events.reduce(foldResponse, emptyResponse()))).toEqual(run);
      expect(await world.storage.log.read(run.id)).toEqual([]);
    }
    // An import archives events, whatever its server's settings.
    const there = await imported(file);
    const again = (await partsOf(await exported(there.sessionId, other))).filter(
      (part) => part.type === 'run',
    );
    expect(again).toEqual(runs);
    await world.runtime.deleteSession(sessionId);
    for (const { run } of runs) expect(await world.storage.eventArchive?.read(run.id)).toEqual([]);
  });
});

test('without keepEvents only the folded turn is kept', async () => {
  const turnId = await begun('One');
  await done();
  expect(await world.storage.eventArchive?.read(turnId)).toEqual([]);
  const [, , run] = await partsOf(await exported());
  expect(run).toMatchObject({ type: 'run', run: { id: turnId } });
  expect(run).not.toHaveProperty('events');
});

test('SAFE: a file beyond the size limit is rejected, compressed or not', async () => {
  await begun('Look');
  await done();
  const file = await exported();
  const { length } = Buffer.from(file);
  for (const given of [file, gzipSync(file)]) {
    const parts = (most: number) => Array.fromAsync(checkedParts(bytesOf(given), most));
    expect((await parts(length)).at(-1)).toMatchObject({ type: 'end' });
    await expect(parts(length - 1)).rejects.toMatchObject({
      code: 'EXPORT_UNREADABLE',
      message: `The file is too large: the limit is ${(length - 1) / 1024 ** 3} GiB.`,
    });
  }
});

test('a character of several bytes can be split anywhere; bytes that are not UTF-8 are rejected', async () => {
  await begun('Ä €');
  await done();
  const bytes = Buffer.from(await exported());
  const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const parts = await Array.fromAsync(checkedParts(bytesOf(...single)));
  expect(parts).toEqual(await partsOf(bytes.toString()));
  const place = bytes.indexOf('Ä');
  const inMiddle = [bytes.subarray(0, place), Buffer.from([0xff]), bytes.subarray(place)];
  const atEnd = [bytes, Buffer.from('€').subarray(0, 2)];
  for (const broken of [inMiddle, atEnd]) {
    await expect(Array.fromAsync(checkedParts(bytesOf(...broken)))).rejects.toMatchObject({
      code: 'EXPORT_UNREADABLE',
      message: 'This is not a file made by liminal export: it is not UTF-8 text.',
    });
  }
});

test('lines are sent together in pieces of at least 64 KiB, and the rest at the end', async () => {
  for (const text of ['One', 'Two', 'Three']) {
    const turnId = await begun(text);
    world.agent.text(sessionId, `${turnId}-a`, text.repeat(20_000));
    await done();
  }
  const pieces = await Array.fromAsync(
    await world.runtime.exportSession(sessionId, { liminal: '0.1.0' }),
  );
  expect(pieces.length).toBeGreaterThan(2);
  const few = pieces.slice(0, -1).filter(({ length }) => length < 64 * 1024);
  expect(few).toEqual([]);
  expect(pieces.at(-1)?.length).toBeLessThan(64 * 1024);
});

describe('a damaged file', () => {
  test.each<[string, (file: string) => string | Uint8Array]>([
    ['cut off', (file) => file.slice(0, file.lastIndexOf('{"type":"end"'))],
    ['a blob with other bytes', (file) => file.replace('"data":"iVBO', '"data":"iVBP')],
    ['nonsense at its end', (file) => file.replace('{"type":"end"', '\u0000{"type":"end"')],
    ['no text', () => Buffer.from([0xff, 0xfe, 0x00])],
    ['compressed, and cut off', (file) => gzipSync(file).subarray(0, -20)],
    ['compressed, but not gzip', () => Buffer.from([0x1f, 0x8b, 1, 2, 3])],
  ])('is rejected and leaves nothing behind: %s', async (_, damage) => {
    await begun('Look', [image]);
    await done();
    const file = damage(await exported());
    await expect(imported(file)).rejects.toMatchObject({ code: 'EXPORT_UNREADABLE' });
    expect(await other.storage.store.listSessions()).toEqual([]);
    expect(await runsOf(sessionId, other)).toEqual([]);
    expect(await other.storage.blobs.sweep(Number.MAX_SAFE_INTEGER)).toBe(0);
    const { hits } = await other.runtime.search('Look', { limit: 5 });
    expect(hits).toEqual([]);
    // The undamaged file can still be imported.
    expect((await imported(gzipSync(await exported()))).sessionId).toBe(sessionId);
  });

  test('that contains the id of another session’s run does not overwrite that run', async () => {
    const turnId = await begun('Mine');
    await done();
    const stolen = (await exported()).replaceAll(sessionId, 'another-session');
    await world.runtime.importSession(bytesOf(stolen));
    expect(await world.runtime.getRun(turnId)).toMatchObject({ sessionId });
    const [copy] = await runsOf('another-session', world);
    expect(copy?.id).not.toBe(turnId);
  });
});
