import calculateSlot from 'cluster-key-slot';
import { expect, test } from 'vitest';
import { collect, delta, done, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { ask, commandsOf, ownRedis } from './redis-stage.ts';

const patience = { timeout: 60_000, interval: 20 };

/** Uses each part of the driver once. */
async function doEverything(open: Awaited<ReturnType<typeof ownRedis>>['open'], prefix: string) {
  const [one, two] = [await open({ prefix }), await open({ prefix })];
  const { leases, board, inboxes, registry, tasks } = one.coordination;
  const stop = new AbortController();
  for (const runId of ['run-1', 'run:{2}', '}3{']) {
    const run = eventsOf(runId, [start, delta('a'), delta('b'), done]);
    await one.log.append(runId, run.slice(0, 1));
    await one.log.append(runId, run.slice(1, 2));
    const followed = collect(two.log.follow(runId));
    await one.log.append(runId, run.slice(2));
    expect(await followed).toStrictEqual(run);
    expect(await two.log.read(runId)).toStrictEqual(run);
    const lease = await leases.acquire(runId, 'server', 60_000);
    await leases.holders([runId, 'another']);
    await leases.release(lease!);
    await board.post(runId, 'text', 60_000);
    await board.read([runId, 'another']);
  }
  const got: string[] = [];
  const close = await inboxes.open('{one}', (message) => got.push(message));
  await two.coordination.inboxes.send('{one}', 'hello');
  await expect.poll(() => got, patience).toEqual(['hello']);
  await close();
  const taskId = await tasks.offer('task');
  for await (const task of two.coordination.tasks.take('{worker}', stop.signal)) {
    await tasks.sendMessage(taskId, 'worker', task.body);
    break;
  }
  for await (const said of tasks.follow(taskId, 'worker', stop.signal)) {
    expect(said).toBe('task');
    break;
  }
  await tasks.stateOf(taskId);
  await tasks.withdraw(taskId);
  await one.log.unsettled();
  for await (const claim of registry.claims('worker', stop.signal)) {
    await claim.projected(1);
    await one.log.settle(claim.runId);
    await claim.done();
    if ((await one.log.unsettled()).length === 1) stop.abort();
  }
}

test.each(['codex', '{mine}'])(
  'all keys of a command are in one slot of a cluster, except for waiting reads: prefix %s',
  async (prefix) => {
    const { redis, open } = await ownRedis();
    const commands = await commandsOf(redis);
    await doEverything(open, prefix);
    const several = new Map<string, string[]>();
    for (const command of commands) {
      const name = command[0]?.toLowerCase() ?? '';
      const [waits, scripted] = [name === 'xread', name.startsWith('eval')];
      if (waits || !(scripted || name === 'mget' || name === 'del')) continue;
      const keys = scripted ? command.slice(3, 3 + Number(command[2])) : command.slice(1);
      if (keys.length > 1) several.set(keys.join(' '), keys);
    }
    // Three runs, the registry, an inbox and the tasks.
    expect(several.size).toBeGreaterThanOrEqual(6);
    for (const keys of several.values()) {
      expect(keys.map((key) => [key, calculateSlot(key)])).toEqual(
        keys.map((key) => [key, calculateSlot(keys[0] ?? '')]),
      );
    }
    // With a prefix in braces all keys are in one slot.
    const all = (await ask(redis, 'KEYS', '*')) as string[];
    const slots = new Set(all.map((key) => calculateSlot(key)));
    expect(slots.size === 1).toBe(prefix.startsWith('{'));
  },
);

test('INV-2: a run is in the registry before it has events, even if Redis has forgotten its scripts', async () => {
  const { redis, open } = await ownRedis();
  const commands = await commandsOf(redis);
  const { log } = await open();
  const first = eventsOf('run-1', [start, delta('a'), delta('b')]);
  await log.append('run-1', first.slice(0, 1));
  await ask(redis, 'SCRIPT', 'FLUSH');
  // Redis now has the script for appending again, but not the script for announcing.
  await log.append('run-1', first.slice(1));
  await log.append('run-2', eventsOf('run-2', [start]));
  const added = () => commands.flatMap(([name, key]) => (/^xadd$/i.test(name ?? '') ? [key] : []));
  const ofOthers = () => added().filter((key) => key !== 'codex:run:run-1:events');
  const expected = ['codex:runs', 'codex:runs', 'codex:run:run-2:events'];
  await expect.poll(ofOthers, patience).toEqual(expected);
});

test('FR-001-04: a run’s stream, the registry and its group have the documented names for readers in any language', async () => {
  const { redis, open } = await ownRedis();
  const { log, coordination } = await open();
  await log.append('run-1', wholeRun('run-1', ['a']));
  for await (const _ of coordination.registry.claims('worker', new AbortController().signal)) break;
  const entries = (await ask(redis, 'XRANGE', 'codex:run:run-1:events', '-', '+')) as string[][][];
  expect(entries.map(([id]) => id)).toEqual(['0-1', '0-2', '0-3']);
  expect(entries[1]?.[1]?.filter((_, index) => index % 2 === 0)).toEqual([
    'type',
    'timestamp',
    'payload',
    'eventId',
    'seq',
    'runId',
    'sessionId',
    'turnId',
    'traceContext',
  ]);
  const [group] = (await ask(redis, 'XINFO', 'GROUPS', 'codex:runs')) as string[][];
  expect(group).toContain('codex-projector-group');
});

test('a user, a password and a database number are taken from the URL', async () => {
  const { redis, open } = await ownRedis();
  await ask(redis, 'ACL', 'SETUSER', 'liminal', 'on', '>se:cret', '~*', '&*', '+@all');
  const url = `redis://liminal:${encodeURIComponent('se:cret')}@127.0.0.1:${redis.port}/3`;
  const { log } = await open({ url });
  await log.append('run-1', wholeRun('run-1', ['a']));
  expect(await collect(log.follow('run-1'))).toStrictEqual(wholeRun('run-1', ['a']));
  expect(await ask(redis, 'DBSIZE')).toBe(0);
  const wrong = open({ url: `redis://liminal:wrong@127.0.0.1:${redis.port}/3` });
  await expect(wrong).rejects.toMatchObject({
    code: 'REDIS_UNAVAILABLE',
    message: expect.stringContaining('WRONGPASS'),
  });
});
