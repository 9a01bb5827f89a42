import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { testAtLength } from '@liminal/testkit/at-length';
import { describe, expect, onTestFinished, test } from 'vitest';
import { collect, delta, done, eventsOf, start, wholeRun } from '../src/testing/runs.ts';
import { cuttable } from './cuttable.ts';
import { ask, ownRedis, write } from './redis-stage.ts';

const patience = { timeout: 60_000, interval: 20 };
const workerFile = fileURLToPath(new URL('redis-worker.ts', import.meta.url));

describe('projector workers', () => {
  test('pass their runs to other workers at once when their own server closes', async () => {
    const { open } = await ownRedis();
    // The idle time is so long that no claim times out during this test.
    const [one, two] = [await open({ claimIdleMs: 600_000 }), await open({ claimIdleMs: 600_000 })];
    const { signal } = new AbortController();
    await two.log.append('run-1', eventsOf('run-1', [start]));
    const first = one.coordination.registry.claims('first', signal)[Symbol.asyncIterator]();
    expect((await first.next()).value).toMatchObject({ runId: 'run-1' });
    const second = two.coordination.registry.claims('second', signal)[Symbol.asyncIterator]();
    const next = second.next();
    await one.close();
    expect((await next).value).toMatchObject({ runId: 'run-1' });
    expect(await first.next()).toMatchObject({ done: true });
  });

  test('a killed worker loses its runs to another; a living worker keeps long runs', async () => {
    const claimIdleMs = 2_000;
    const { redis, open } = await ownRedis();
    const { log, coordination } = await open({ claimIdleMs });
    const doomed = spawn(process.execPath, [workerFile, redis.url, String(claimIdleMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void doomed.kill('SIGKILL'));
    const lines = createInterface(doomed.stdout)[Symbol.asyncIterator]();
    await log.append('run-1', eventsOf('run-1', [start]));
    await log.append('run-2', eventsOf('run-2', [start]));
    expect([(await lines.next()).value, (await lines.next()).value]).toEqual(['run-1', 'run-2']);

    const stop = new AbortController();
    const taken: string[] = [];
    const taking = (async () => {
      for await (const { runId } of coordination.registry.claims('other', stop.signal))
        taken.push(runId);
    })();
    // The claim's idle time: it starts over each time that the worker renews it.
    const idleMs = async () => {
      const how = ['codex:runs', 'codex-projector-group', '-', '+', '1'];
      const [[, , idle] = []] = (await ask(redis, 'XPENDING', ...how)) as [
        string,
        string,
        number,
      ][];
      return idle ?? 0;
    };
    let [last, renewals] = [await idleMs(), 0];
    // Long enough for a claim without renewals to expire.
    const count = async () => {
      const idle = await idleMs();
      if (idle < last) renewals += 1;
      last = idle;
      return renewals;
    };
    await expect.poll(count, patience).toBe(4);
    expect(taken).toEqual([]);

    const exited = once(doomed, 'exit');
    doomed.kill('SIGKILL');
    await exited;
    await expect.poll(() => taken.toSorted(), patience).toEqual(['run-1', 'run-2']);
    stop.abort();
    await taking;
  });
});

test('INV-2: a worker gets a run that it has claimed even if the answer to the claim was lost', async () => {
  const claimIdleMs = 1_500;
  const { redis, open } = await ownRedis();
  const { log, coordination } = await open({ claimIdleMs });
  const stop = new AbortController();
  const taken: string[] = [];
  const taking = (async () => {
    for await (const { runId } of coordination.registry.claims('deaf', stop.signal))
      taken.push(runId);
  })();
  const group = ['codex:runs', 'codex-projector-group'];
  await log.append('run-1', eventsOf('run-1', [start]));
  await expect.poll(() => taken, patience).toEqual(['run-1']);
  const [[, consumer = ''] = []] = (await ask(redis, 'XINFO', 'CONSUMERS', ...group)) as string[][];
  // The claim is made, but the worker gets no answer, as if its connection had broken.
  const unheard = `
    local entry = redis.call('XADD', KEYS[1], '*', 'runId', 'run-2', 'sessionId', 'session-2')
    redis.call('HSET', '{' .. KEYS[1] .. '}:announced', 'run-2', entry)
    redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS', KEYS[1], '>')`;
  await ask(redis, 'EVAL', unheard, '1', ...group, consumer);
  await log.append('run-2', eventsOf('run-2', [start]));
  await expect.poll(() => taken, patience).toEqual(['run-1', 'run-2']);
  stop.abort();
  await taking;
});

testAtLength('killed workers are removed once they have no claims', async () => {
  const { redis, open } = await ownRedis();
  const { log, coordination } = await open({ claimIdleMs: 150 });
  const group = ['codex:runs', 'codex-projector-group'];
  await ask(redis, 'XGROUP', 'CREATE', ...group, '0', 'MKSTREAM');
  await ask(redis, 'XGROUP', 'CREATECONSUMER', ...group, 'killed');
  const names = async () => {
    const workers = (await ask(redis, 'XINFO', 'CONSUMERS', ...group)) as string[][];
    return workers.map(([, name = '']) => name.split(':')[0]);
  };
  expect(await names()).toEqual(['killed']);
  await log.append('run-1', eventsOf('run-1', [start]));
  const { signal } = new AbortController();
  const lives = coordination.registry.claims('lives', signal)[Symbol.asyncIterator]();
  expect((await lives.next()).value).toMatchObject({ runId: 'run-1' });
  await expect.poll(names, patience).toEqual(['lives']);
});

describe('a lost connection', () => {
  test('INV-7: readers continue at their position, inboxes get all messages, and the board reports a gap', async () => {
    const { redis, open } = await ownRedis();
    const way = await cuttable(redis.port);
    const [near, far] = [await open(), await open({ url: way.url })];
    const run = eventsOf('run-1', [start, delta('a'), delta('b'), delta('c'), done]);
    const [messages, board]: [string[], string[]] = [[], []];
    await far.coordination.inboxes.open('far', (message) => messages.push(message));
    await far.coordination.board.watch('', {
      onPost: (name, text) => board.push(`${name}=${text}`),
      onGap: () => board.push('gap'),
    });
    await near.log.append('run-1', run.slice(0, 2));
    const followed = far.log.follow('run-1')[Symbol.asyncIterator]();
    const seen = [(await followed.next()).value, (await followed.next()).value];
    await near.coordination.inboxes.send('far', '1');
    await near.coordination.board.post('a', '1', 60_000);
    await expect.poll(() => [messages, board], patience).toEqual([['1'], ['a=1']]);

    way.cut();
    const next = followed.next();
    await near.log.append('run-1', run.slice(2, 3));
    expect(await near.coordination.inboxes.send('far', '2')).toBe(true);
    await near.coordination.board.post('a', 'missed', 60_000);
    await expect(far.log.read('run-1')).rejects.toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    way.mend();

    seen.push((await next).value);
    await expect
      .poll(() => [messages, board], patience)
      .toEqual([
        ['1', '2'],
        ['a=1', 'gap'],
      ]);
    await near.log.append('run-1', run.slice(3));
    expect(await near.coordination.inboxes.send('far', '3')).toBe(true);
    await near.coordination.board.post('a', '3', 60_000);
    await expect
      .poll(() => [messages, board], patience)
      .toEqual([
        ['1', '2', '3'],
        ['a=1', 'gap', 'a=3'],
      ]);
    const rest = await collect({ [Symbol.asyncIterator]: () => followed });
    expect([...seen, ...rest]).toStrictEqual(run);
    await write(far.log, 'run-2', [wholeRun('run-2', ['x'])]);
  });

  test.each([
    ['an array with an impossible number of elements', '*99999999999\r\n'],
    ['endlessly nested arrays', '*1\r\n'.repeat(100_000)],
    ['an empty message', '*0\r\n'],
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('SAFE: bytes that no Redis sends end only their connections: %s', async (_, bytes) => {
    const { redis, open } = await ownRedis();
    const way = await cuttable(redis.port);
    const { log, coordination } = await open({ url: way.url });
    const messages: string[] = [];
    await coordination.inboxes.open('mine', (message) => messages.push(message));
    const board: string[] = [];
    await coordination.board.watch('', {
      onPost: (name, text) => board.push(`${name}=${text}`),
      onGap: () => board.push('gap'),
    });
    const run = eventsOf('run-1', [start, delta('a'), done]);
    await log.append('run-1', run.slice(0, 1));
    const following = collect(log.follow('run-1'));
    way.say(bytes);
    await expect.poll(() => board, patience).toEqual(['gap']);
    await write(log, 'run-1', [run.slice(1)]);
    expect(await following).toStrictEqual(run);
    const { board: posts, inboxes } = (await open()).coordination;
    await posts.post('a', '1', 60_000);
    expect(await inboxes.send('mine', '1')).toBe(true);
    await expect.poll(() => [messages, board], patience).toEqual([['1'], ['gap', 'a=1']]);
  });

  test('a follower that waits during a lost connection can still be ended', async () => {
    const { redis, open } = await ownRedis();
    const way = await cuttable(redis.port);
    const far = await open({ url: way.url });
    way.cut();
    const stop = new AbortController();
    const begins = collect(far.log.follow('run-1', { signal: stop.signal }));
    stop.abort();
    expect(await begins).toEqual([]);
    const waits = collect(far.log.follow('run-1'));
    await far.close();
    expect(await waits).toEqual([]);
  });
});

test('INV-7: a reader of a run whose projected beginning was dropped starts with the oldest remaining event', async () => {
  const { open } = await ownRedis();
  const { log, coordination } = await open({ maxLength: 10 });
  const run = wholeRun('run-1', Array(1_000).fill('text'));
  await log.append('run-1', run.slice(0, 900));
  for await (const claim of coordination.registry.claims('worker', new AbortController().signal)) {
    await claim.projected(700);
    break;
  }
  const followed = collect(log.follow('run-1', { after: 5 }));
  await log.append('run-1', run.slice(900));
  const [first] = await followed;
  expect(first?.seq).toBeGreaterThan(100);
  expect(first?.seq).toBeLessThanOrEqual(701);
  expect(await followed).toStrictEqual(run.slice(first?.seq));
});

test('a thousand followers of a run need one reader', async () => {
  const { redis, open } = await ownRedis();
  const [near, far] = [await open(), await open()];
  const run = wholeRun('run-1', Array(500).fill('text'));
  await near.log.append('run-1', run.slice(0, 1));
  const followers = Array.from({ length: 1_000 }, () =>
    far.log.follow('run-1')[Symbol.asyncIterator](),
  );
  await Promise.all(followers.map(async (follower) => follower.next()));
  const rest = followers.map(async (follower) =>
    collect({ [Symbol.asyncIterator]: () => follower }),
  );
  const before = await commandsOf();
  for (let at = 1; at < run.length; at += 10)
    await near.log.append('run-1', run.slice(at, at + 10));
  for (const got of await Promise.all(rest)) expect(got.length).toBe(run.length - 1);
  const after = await commandsOf();
  // An append is one script call; a separate reader for each follower would add a thousand calls.
  expect(after.xrange - before.xrange).toBeLessThan(50);
  expect(after.xread - before.xread).toBeLessThan(200);

  async function commandsOf() {
    const stats = String(await ask(redis, 'INFO', 'commandstats'));
    const calls = (name: string) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    return { xread: calls('xread'), xrange: calls('xrange') };
  }
});
