/** Blobs in Convex: operations in several calls, and their failures between the calls. */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { openConvex } from '../src/convex/index.ts';
import { openDeployment } from '../src/convex/open.ts';
import { response } from '../src/testing/records.ts';
import { deploy, secret, serve, watched } from './convex-deployment.ts';

const png = { mimeType: 'image/png' };
const mib = 1024 * 1024;
/** Bytes that are written in three calls, and read in two. */
const large = new Uint8Array(randomBytes(6.5 * mib));
const later = () => Date.now() + 60_000;
/** Patience for background work of the deployment. */
const patience = { timeout: 60_000, interval: 500 };

async function open() {
  const deployment = deploy();
  const { watch, caller } = watched(deployment.caller);
  const names = () => watch.calls.splice(0).map(({ name }) => name);
  const database = await openDeployment(caller, secret);
  onTestFinished(deployment.tidied);
  names();
  return { ...deployment, ...database, watch, names };
}

test('bytes that are larger than a call are written and read in several; stored bytes are not sent again', async () => {
  const { blobs, names, watch } = await open();
  const { hash } = await blobs.put(large, png);
  const stage = 'blobs:stage';
  expect(names()).toEqual(['blobs:keep', stage, stage, stage, 'blobs:keep']);
  const read = await blobs.get(hash);
  expect(Buffer.compare(read?.bytes ?? large.subarray(1), large)).toBe(0);
  expect(names()).toEqual(['blobs:find', 'blobs:read', 'blobs:read']);
  await blobs.put(large, { ...png, sessionId: 'session-1' });
  expect(watch.calls).toHaveLength(1);
});

test('a put that fails at any call stores nothing, and its parts are swept', async () => {
  const { blobs, store, watch, count } = await open();
  const kept = await blobs.put(large.subarray(mib), { ...png, sessionId: 'session-1' });
  for (const failAt of [0, 2, 4]) {
    let left = failAt;
    watch.before = () => {
      if (left-- === 0) throw new Error('The line is cut.');
    };
    await expect(blobs.put(large, png)).rejects.toMatchObject({
      code: 'STORE_WRITE_FAILED',
      message: expect.stringContaining('The line is cut'),
    });
    watch.before = () => {};
  }
  // A failed put is not counted as an upload.
  expect(await blobs.sweep(later())).toBe(0);
  expect(await count('blobs')).toBe(1);
  await expect.poll(async () => count('parts'), patience).toBe(15);
  const { hash } = await blobs.put(large, { ...png, sessionId: 'session-1' });
  expect(await blobs.get(hash)).toMatchObject({ size: large.length });
  await store.deleteSession('session-1');
  expect(await blobs.get(hash)).toBeUndefined();
  expect(await blobs.get(kept.hash)).toBeUndefined();
  for (const table of ['blobs', 'parts', 'holds'] as const) {
    await expect.poll(async () => [table, await count(table)], patience).toEqual([table, 0]);
  }
});

test('a put that is swept before it is finished starts over', async () => {
  const { blobs, caller, watch, names } = await open();
  const other = await openDeployment(caller, secret);
  const begun = Promise.withResolvers<void>();
  watch.before = () => {
    // Resolves before the second of the three calls of the put.
    if (watch.calls.some(({ name }) => name === 'blobs:stage')) begun.resolve();
  };
  const put = blobs.put(large, png);
  await begun.promise;
  await other.blobs.sweep(later());
  const { hash } = await put;
  expect(names().filter((name) => name === 'blobs:stage').length).toBeGreaterThan(3);
  expect(await blobs.get(hash)).toMatchObject({ size: large.length });
});

test('the same bytes from two servers at once are stored once', async () => {
  const { blobs, caller, count } = await open();
  const other = await openDeployment(caller, secret);
  const [one, two] = await Promise.all([
    blobs.put(large, png),
    other.blobs.put(large, { mimeType: 'text/plain', sessionId: 'session-1' }),
  ]);
  expect(one).toEqual(two);
  expect(await count('blobs')).toBe(1);
  await expect.poll(async () => count('parts'), patience).toBe(18);
  expect(await blobs.get(one.hash)).toMatchObject({ size: large.length });
});

test('the holds of a session end in the first step of its deletion', async () => {
  const { blobs, store, watch } = await open();
  const hashes: string[] = [];
  for (const text of ['a', 'b', 'c']) {
    const bytes = new TextEncoder().encode(text);
    hashes.push((await blobs.put(bytes, { ...png, sessionId: 'session-1' })).hash);
  }
  await blobs.hold('session-2', hashes.slice(0, 1));
  // The heads are so large that deleting the session takes more than one call.
  const much = { error: { code: 'BROKEN', message: '…'.repeat(60_000) }, status: 'error' } as const;
  const runs = Array.from({ length: 30 }, (_, at) => response(`run-${at}`, [], much));
  await store.importResponses(runs);
  let removed = 0;
  watch.before = (name) => {
    if (name === 'sessions:remove' && removed++ === 1) throw new Error('The line is cut.');
  };
  await expect(store.deleteSession('session-1')).rejects.toMatchObject({
    code: 'STORE_WRITE_FAILED',
  });
  expect(await store.listRuns('session-1')).not.toEqual([]);
  expect(await blobs.hold('session-2', hashes)).toEqual(hashes.slice(1));
});

test('SAFE: damaged bytes are refused, and never returned', async () => {
  const { blobs, backend } = await open();
  const { hash } = await blobs.put(large, png);
  const damages = [
    { text: Buffer.from('other bytes').toString('base64') },
    { text: '' },
    { part: 99 },
  ];
  for (const damage of damages) {
    await backend.run(async (ctx) => {
      const part = await ctx.db.query('parts').first();
      await ctx.db.patch(part!._id, damage);
    });
    await expect(blobs.get(hash)).rejects.toMatchObject({
      code: 'STORE_READ_FAILED',
      message: expect.stringContaining('damaged'),
    });
  }
});

test('over HTTP, bytes are returned unchanged; an unreachable deployment is reported', async () => {
  const { url, close } = await serve(deploy().caller);
  const { blobs } = await openConvex(url, secret);
  const { hash } = await blobs.put(large, png);
  const read = await blobs.get(hash);
  expect(Buffer.compare(read?.bytes ?? large.subarray(1), large)).toBe(0);
  await close();
  await expect(blobs.get(hash)).rejects.toMatchObject({ code: 'STORE_READ_FAILED' });
  for (const write of [
    async () => blobs.put(large, png),
    async () => blobs.hold('session-1', [hash]),
    async () => blobs.sweep(later()),
  ]) {
    await expect(write()).rejects.toMatchObject({ code: 'STORE_WRITE_FAILED' });
  }
});
