import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from './harness.ts';

let world: World;
afterEach(async () => world.end());

const create = async () =>
  world.runtime.createSession({ cliType: 'scripted', projectDir: world.projectDir });

async function createMany(count: number) {
  const settled = await Promise.allSettled(Array.from({ length: count }, create));
  const made = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const refusals = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  return { made, codes: refusals.map(({ code }: { code: string }) => code) };
}

const full = (count: number) => Array.from({ length: count }, () => 'TOO_MANY_SESSIONS');

/** Delays the starts of agents until the result is called. */
function holdStarts(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { open } = world.agent;
  world.agent.open = async (opening) => {
    await promise;
    return open.call(world.agent, opening);
  };
  return resolve;
}

test('SAFE: of 400 sessions requested at once, exactly the limit of 200 are created', async () => {
  world = await startWorld({ maxSessions: 200 });
  const start = holdStarts();
  const refused: string[] = [];
  const creating = Array.from({ length: 400 }, async () =>
    create().catch(({ code }: { code: string }) => void refused.push(code)),
  );
  await expect.poll(() => refused.length, { timeout: 10_000 }).toBe(200);
  expect(refused).toEqual(full(200));
  start();
  const made = (await Promise.all(creating)).filter((session) => session !== undefined);
  expect(made).toHaveLength(200);
  expect(await world.storage.store.listSessions({ active: true })).toHaveLength(200);
  await world.runtime.kill(made[0]!.sessionId);
  expect((await createMany(3)).codes).toEqual(full(2));
});

test('SAFE: a session that could not be created frees its place', async () => {
  world = await startWorld({ maxSessions: 3 });
  const { open } = world.agent;
  let starts = 0;
  world.agent.open = async (opening) => {
    await new Promise(setImmediate);
    if (++starts % 2 === 0) throw new Error('The agent does not start.');
    return open.call(world.agent, opening);
  };
  const first = await createMany(3);
  expect(first.made).toHaveLength(2);
  await expect(create()).rejects.toThrow('does not start');
  await create();
  await expect(create()).rejects.toMatchObject({ code: 'TOO_MANY_SESSIONS' });
});

test('SAFE: a session that could not be stored frees its place', async () => {
  world = await startWorld({ maxSessions: 2 });
  const { store } = world.storage;
  const { saveSession } = store;
  store.saveSession = async () => {
    throw new Error('The disk is full.');
  };
  expect((await createMany(2)).made).toHaveLength(0);
  store.saveSession = saveSession;
  expect((await createMany(5)).made).toHaveLength(2);
});

test('SAFE: sessions that are created while the server counts the open sessions are counted exactly once', async () => {
  world = await startWorld({ maxSessions: 4 });
  await create();
  const { store } = world.storage;
  const { listSessions } = store;
  // The store answers late, when other sessions have long been created.
  let delay = 0;
  store.listSessions = async (filter) => {
    const read = await listSessions.call(store, filter);
    delay += 1;
    for (let turn = 0; turn < (delay % 3) * 40; turn++) await Promise.resolve();
    return read;
  };
  const { made, codes } = await createMany(12);
  expect([made.length, codes]).toEqual([3, full(9)]);
});
