/** Runs `./liminal tools` as a separate process. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { remoteTools, ToolError, toolsForWorkers } from '@liminal/agents/tools';
import { openRedis } from '@liminal/storage/redis';
import { chat, startChatCompletionsApi, testPostgres, testRedis } from '@liminal/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { type Command, eventually, Home } from './command.ts';

const patience = { takenMs: 1_000, aliveMs: 500, silentMs: 4_000, stopMs: 10_000 };
/** The address of a database to which a worker never connects. */
const noDatabase = 'postgresql://nobody@127.0.0.1:1/none';

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Starts workers on a Redis. Returns the server's side of their queue. */
async function stage(config: object = {}) {
  const redis = await testRedis();
  onTestFinished(async () => redis.release());
  const prefix = redis.newPrefix();
  const home = new Home();
  onTestFinished(async () => home.close());
  mkdirSync(home.data);
  const file = { redisPrefix: prefix, roots: [home.project], ...config };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(file));
  const env = { LIMINAL_REDIS_URL: redis.url, LIMINAL_DATABASE_URL: noDatabase };
  const worker = async (): Promise<Command> => {
    const command = home.start(['tools'], env);
    await command.untilOutput(/^The worker for tools is running\.$/m);
    return command;
  };
  const opened = await openRedis({ url: redis.url, prefix });
  onTestFinished(async () => opened.close());
  const { tasks } = opened.coordination;
  const bash = remoteTools(toolsForWorkers({}), tasks, patience).find(
    ({ name }) => name === 'bash',
  )!;
  /** Runs a command; `first` resolves with its first output. */
  const run = (command: string, signal = new AbortController().signal) => {
    const first = Promise.withResolvers<string>();
    const context = { projectDir: home.project, signal, print: first.resolve };
    return { first: first.promise, result: bash.run({ command }, context) };
  };
  return { redis, home, env, worker, run };
}

test('FR-001-22: a worker runs a command in the project, shows the command’s output while it runs, and ends on a signal', async () => {
  const { home, worker, run } = await stage();
  const command = await worker();
  const { first, result } = run(
    'echo $PPID; while [ ! -e go ]; do sleep 0.02; done; pwd; echo "[$LIMINAL_REDIS_URL]"; exit 3',
  );
  expect(Number(await first)).toBe(command.pid);
  writeFileSync(join(home.project, 'go'), '');
  expect(await result).toMatchObject({
    output: `${command.pid}\n${home.project}\n[]\n(exit code 3)`,
    success: false,
    exitCode: 3,
  });
  command.signal('SIGTERM');
  expect(await command.exitCode).toBe(0);
});

test('if a command is stopped, the command ends in the worker', async () => {
  const { worker, run } = await stage();
  await worker();
  const stop = new AbortController();
  const { first, result } = run('echo $$; sleep 300', stop.signal);
  const pid = Number(await first);
  expect(isThere(pid)).toBe(true);
  stop.abort();
  expect((await result).output).toContain('It was stopped, with all that it started.');
  expect(isThere(pid)).toBe(false);
});

test('INV-8: if a worker ends, its commands end too', async () => {
  const { worker, run } = await stage();
  const command = await worker();
  const { first, result } = run('echo $$; sleep 300');
  const pid = Number(await first);
  command.signal('SIGTERM');
  expect((await result).output).toContain('It was stopped, with all that it started.');
  expect(await command.exitCode).toBe(0);
  expect(isThere(pid)).toBe(false);
});

test('INV-8: if a worker is killed, the model gets an error, and the worker’s command ends and is not run again', async () => {
  const { home, worker, run } = await stage();
  const [killed] = [await worker()];
  const { first, result } = run('echo $$; echo ran >> runs; sleep 300');
  const pid = Number(await first);
  const runs = join(home.project, 'runs');
  await eventually(() => existsSync(runs)).toBe(true);
  await worker();
  await killed.end('SIGKILL');
  await expect(result).rejects.toThrow(ToolError);
  await expect(result).rejects.toThrow(/was lost. Whether it was done, or how far, is unknown/);
  await eventually(() => isThere(pid)).toBe(false);
  // The second worker is still running, and takes the next call.
  expect((await run('cat runs').result).output).toBe('ran\n');
  expect(readFileSync(runs, 'utf8')).toBe('ran\n');
});

test('two workers share calls that are made at the same time', async () => {
  const { worker, run } = await stage();
  const workers = [await worker(), await worker()];
  const calls = Array.from({ length: 20 }, (_, index) => {
    // Each call waits until all calls have begun.
    const command = `: > ${index}; while [ $(ls | wc -l) -lt 20 ]; do sleep 0.05; done; echo $PPID`;
    return run(command).result;
  });
  const pids = (await Promise.all(calls)).map(({ output }) => Number(output));
  // A single worker would run at most 16 of these calls at the same time.
  expect(new Set(pids)).toEqual(new Set(workers.map(({ pid }) => pid)));
});

test('a server with workers runs the commands of its models in the workers', async () => {
  const api = await startChatCompletionsApi({ script: [] });
  onTestFinished(async () => api.close());
  const postgres = await testPostgres();
  onTestFinished(async () => postgres.release());
  const { home, env, worker } = await stage({
    databaseSchema: postgres.newSchema(),
    models: { local: { type: 'openai', baseUrl: api.url, api: 'chat', model: 'm' } },
    tools: { workers: true },
  });
  const whole = { ...env, LIMINAL_DATABASE_URL: postgres.url };
  await home.serve([], whole);
  const ask = async () => {
    api.play([
      chat.answer([chat.call('bash', { command: 'echo "by $PPID"' })]),
      chat.answer([chat.text('Done.')]),
    ]);
    const asking = home.start(['run', 'Who?', '--agent', 'local', '--set', 'mode=all'], whole);
    expect(await asking.exitCode).toBe(0);
    return JSON.stringify(api.requests.at(-1)?.body.messages.at(-1));
  };
  expect(await ask()).toContain('No worker for tools is running: start `liminal tools`.');
  const { pid } = await worker();
  expect(await ask()).toContain(`by ${pid}\\n`);
});

test('without a shared Redis, both a worker and a server with workers report that they need a shared Redis', async () => {
  const home = new Home();
  onTestFinished(async () => home.close());
  const lonely = home.start(['tools']);
  expect(await lonely.exitCode).toBe(2);
  expect(lonely.stderr).toMatch(/set LIMINAL_REDIS_URL and LIMINAL_DATABASE_URL/);
  mkdirSync(home.data, { recursive: true });
  const file = { tools: { workers: true } };
  writeFileSync(join(home.data, 'liminal.json'), JSON.stringify(file));
  const server = home.start(['serve', '--port', '0', '--no-open']);
  expect(await server.exitCode).toBe(2);
  expect(server.stderr).toMatch(/"workers": true .*set LIMINAL_REDIS_URL/);
});
