/** Tools that a worker runs. The tests run server and worker in one process, over each kind of queue. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  builtInTools,
  remoteTools,
  serveTools,
  type Tool,
  ToolError,
  type ToolQueue,
  type ToolResult,
  toolsForWorkers,
} from '@liminal/agents/tools';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { openRedis } from '@liminal/storage/redis';
import { testRedis, type TestRedis } from '@liminal/testkit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const patience = { takenMs: 300, aliveMs: 100, silentMs: 1_500, stopMs: 500 };
const { signal: never } = new AbortController();

let redis: TestRedis;
beforeAll(async () => {
  redis = await testRedis();
});
afterAll(async () => redis.release());

async function redisQueues(): Promise<[ToolQueue, ToolQueue]> {
  const where = { url: redis.url, prefix: redis.newPrefix() };
  const opened = [await openRedis(where), await openRedis(where)] as const;
  onTestFinished(async () => {
    for (const one of opened) await one.close();
  });
  return [opened[0].coordination.tasks, opened[1].coordination.tasks];
}

async function memoryQueues(): Promise<[ToolQueue, ToolQueue]> {
  const { tasks } = openSharedMemoryStorage().coordination;
  return [tasks, tasks];
}

const Input = z.object({ text: z.string() });

/** Returns a tool whose `run` is the given function. */
function toolOf(run: Tool<{ text: string }>['run'], name = 'act'): Tool {
  const tool: Tool<{ text: string }> = {
    name,
    description: 'Acts.',
    kind: 'execute',
    input: Input,
    describe: async ({ text }) => ({ title: text }),
    needs: () => undefined,
    run,
  };
  return tool;
}

const done: ToolResult = { output: 'done', success: true };

/** Starts a worker in this process. The worker ends with the test. */
function work(queue: ToolQueue, tools: readonly Tool[], atOnce?: number) {
  const stop = new AbortController();
  const options = {
    worker: 'worker',
    signal: stop.signal,
    timeouts: patience,
    ...(atOnce && { atOnce }),
  };
  const ended = serveTools(tools, queue, options);
  const end = async () => {
    stop.abort();
    await ended;
  };
  onTestFinished(end);
  return { end };
}

interface CallOptions {
  signal?: AbortSignal;
  print?: (text: string) => void;
  projectDir?: string;
}

async function call(queue: ToolQueue, tool: Tool, input: unknown, options: CallOptions = {}) {
  const [remote] = remoteTools([tool], queue, patience);
  const context = { projectDir: '/', signal: never, print: () => {}, ...options };
  return remote!.run(input, context);
}

/** Returns the message with which a call is refused. Rethrows every other failure. */
async function refusal(calling: Promise<unknown>): Promise<string> {
  try {
    return `not refused: ${JSON.stringify(await calling)}`;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}

/** Returns a tool that reports when it begins, and that ends when the test asks it to end. */
function slowTool() {
  const begun = Promise.withResolvers<AbortSignal>();
  const goOn = Promise.withResolvers<ToolResult>();
  let runs = 0;
  const tool = toolOf(async (_input, { signal }) => {
    runs += 1;
    begun.resolve(signal);
    return goOn.promise;
  });
  return { tool, begun: begun.promise, end: () => goOn.resolve(done), runs: () => runs };
}

function makeProject(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'liminal-remote-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe.each([
  ['memory', memoryQueues],
  ['Redis', redisQueues],
])('tools in workers, through %s', (_name, newQueues) => {
  test('a tool that runs in a worker returns the same output, success, blocks, diffs, exit code and plan as on the server', async () => {
    const [queue] = await newQueues();
    const results: ToolResult[] = [
      done,
      { output: 'ß🧵\0\n', success: false, exitCode: null },
      {
        output: '',
        success: true,
        exitCode: 3,
        blocks: [{ type: 'image', mimeType: 'image/png', data: 'AA==', name: 'a.png', size: 1 }],
        diffs: [{ path: '/a', oldText: 'a', newText: 'b' }],
        plan: [{ content: 'Look', priority: 'high', status: 'pending' }],
      },
    ];
    const tool = toolOf(async ({ text }, { projectDir }) => {
      expect(projectDir).toBe('/the project');
      return results[Number(text)]!;
    });
    work(queue, [tool]);
    for (const [index, result] of results.entries()) {
      const said = await call(queue, tool, { text: `${index}` }, { projectDir: '/the project' });
      expect(said).toStrictEqual(result);
    }
  });

  test('a call that runs in a worker has the same title and needs the same permissions as on the server', async () => {
    const [queue] = await newQueues();
    const [bash] = toolsForWorkers({});
    const [remote] = remoteTools([bash!], queue);
    const input = { command: 'npm test' };
    expect(await remote!.describe(input, { projectDir: '/' })).toEqual(
      await bash!.describe(input, { projectDir: '/' }),
    );
    expect(await remote!.needs(input, { projectDir: '/' })).toEqual(
      await bash!.needs(input, { projectDir: '/' }),
    );
  });

  test('while a tool runs in a worker, all its output is shown in order', async () => {
    const [queue] = await newQueues();
    const projectDir = makeProject();
    const tools = toolsForWorkers({});
    work(queue, tools);
    const printed: string[] = [];
    const command =
      'echo first; while [ ! -e go ]; do sleep 0.02; done; for n in $(seq 300); do echo $n; done';
    const print = (text: string) => {
      printed.push(text);
      writeFileSync(join(projectDir, 'go'), '');
    };
    const bash = tools.find(({ name }) => name === 'bash')!;
    const { output, exitCode } = await call(queue, bash, { command }, { projectDir, print });
    expect(exitCode).toBe(0);
    expect(printed[0]).toBe('first\n');
    expect(printed.join('')).toBe(output);
  });

  test('if a tool fails in a worker, the model gets the tool’s error; a fault of the worker itself is reported as a fault', async () => {
    const [queue] = await newQueues();
    const tool = toolOf(async ({ text }) => {
      throw text === 'wrong' ? new ToolError('Do it otherwise.') : new Error('broken');
    });
    work(queue, [tool]);
    expect(await refusal(call(queue, tool, { text: 'wrong' }))).toBe('Do it otherwise.');
    await expect(refusal(call(queue, tool, { text: 'fault' }))).rejects.toThrow('broken');
    const unknown = toolOf(async () => done, 'unknown');
    expect(await refusal(call(queue, unknown, { text: '' }))).toContain(
      'does not know this call (unknown)',
    );
    expect(await refusal(call(queue, tool, { other: '' }))).toContain('does not know this call');
  });

  test('while the server and the worker are alive, a call may be silent for any time', async () => {
    const [queue] = await newQueues();
    const { tool, begun, end } = slowTool();
    work(queue, [tool]);
    onTestFinished(end);
    // Wait for as many signs of life as the other side sends in 1.5 times the silence after which the server or the
    // worker is treated as lost.
    const enough = Promise.withResolvers<void>();
    let alive = Math.ceil((1.5 * patience.silentMs) / patience.aliveMs);
    const watched: ToolQueue = {
      ...bound(queue),
      sendMessage: async (...said) => {
        if (--alive === 0) enough.resolve();
        return queue.sendMessage(...said);
      },
    };
    const calling = call(watched, tool, { text: '' });
    const inside = await begun;
    await Promise.race([enough.promise, calling, once(inside, 'abort')]);
    expect(inside.aborted).toBe(false);
    end();
    expect(await calling).toEqual(done);
  });

  test('when its call is stopped, a tool in a worker ends', async () => {
    const [queue] = await newQueues();
    const tool = toolOf(async (_input, { signal, print }) => {
      print('begun');
      await once(signal, 'abort');
      return { output: 'stopped in time', success: false };
    });
    work(queue, [tool]);
    const stop = new AbortController();
    const options = { signal: stop.signal, print: () => stop.abort() };
    expect(await call(queue, tool, { text: '' }, options)).toMatchObject({
      output: 'stopped in time',
    });
  });

  test('if the worker does not answer, a stopped call ends after a time limit', async () => {
    const [queue] = await newQueues();
    const { tool, begun, end } = slowTool();
    work(queue, [tool]);
    const stop = new AbortController();
    const calling = refusal(call(queue, tool, { text: '' }, { signal: stop.signal }));
    const inside = await begun;
    stop.abort();
    expect(await calling).toContain('has not confirmed that it has ended');
    expect(inside.aborted).toBe(true);
    end();
  });

  test('if a call is stopped before a worker takes it, the call never begins', async () => {
    const [queue] = await newQueues();
    const { tool, runs } = slowTool();
    expect(await refusal(call(queue, tool, {}, { signal: AbortSignal.abort() }))).toBe(
      'This was stopped.',
    );
    const stop = new AbortController();
    const calling = refusal(call(queue, tool, { text: '' }, { signal: stop.signal }));
    stop.abort();
    expect(await calling).toBe('This was stopped.');
    const next = toolOf(async () => done, 'next');
    work(queue, [tool, next], 1);
    expect(await call(queue, next, { text: '' })).toEqual(done);
    expect(runs()).toBe(0);
  });

  test('if no worker runs, a call is refused, and a worker that starts later does not run the call', async () => {
    const [queue] = await newQueues();
    const { tool, runs } = slowTool();
    expect(await refusal(call(queue, tool, { text: '' }))).toBe(
      'No worker for tools is running: start `liminal tools`. Nothing was done.',
    );
    const next = toolOf(async () => done, 'next');
    work(queue, [tool, next], 1);
    expect(await call(queue, next, { text: '' })).toEqual(done);
    expect(runs()).toBe(0);
  });

  test('when a worker is lost, the error says whether the call may have begun', async () => {
    const [queue] = await newQueues();
    const tool = toolOf(async () => done);
    const impatient = { ...patience, takenMs: 50, silentMs: 300 };
    const lost = async (onTaken: (taskId: string) => Promise<void>) => {
      const [remote] = remoteTools([tool], queue, impatient);
      const context = { projectDir: '/', signal: never, print: () => {} };
      const calling = refusal(remote!.run({ text: '' }, context));
      for await (const { taskId } of queue.take('takes and dies', never)) {
        await onTaken(taskId);
        break;
      }
      return calling;
    };
    expect(await lost(async () => {})).toContain('nothing was done');
    const taken = JSON.stringify({ type: 'taken', worker: 'it' });
    expect(await lost(async (taskId) => queue.sendMessage(taskId, 'worker', taken))).toContain(
      'Whether it was done, or how far, is unknown',
    );
  });

  test('calls wait while all workers are busy', async () => {
    const [queue] = await newQueues();
    const { tool, begun, end } = slowTool();
    const looked = Promise.withResolvers<void>();
    const outlooks: string[] = [];
    const watched: ToolQueue = {
      ...bound(queue),
      stateOf: async (taskId) => {
        const outlook = await queue.stateOf(taskId);
        if (outlooks.push(outlook) === 2) looked.resolve();
        return outlook;
      },
    };
    const next = toolOf(async () => ({ output: 'next', success: true }), 'next');
    work(queue, [tool, next], 1);
    const first = call(queue, tool, { text: '' });
    await begun;
    const second = call(watched, next, { text: '' });
    await looked.promise;
    end();
    expect(await first).toEqual(done);
    expect(await second).toMatchObject({ output: 'next' });
    expect(outlooks.slice(0, 2)).toEqual(['waits', 'waits']);
  });

  test('simultaneous calls are shared by all workers', async () => {
    const [queue] = await newQueues();
    const [one, two] = [slowTool(), slowTool()];
    work(queue, [one.tool], 1);
    work(queue, [two.tool], 1);
    const calls = [call(queue, one.tool, { text: '' }), call(queue, one.tool, { text: '' })];
    // Each call waits until both calls have begun, so both must run at the same time.
    await Promise.all([one.begun, two.begun]);
    for (const { end } of [one, two]) end();
    expect(await Promise.all(calls)).toEqual([done, done]);
  });

  test('if the queue hands out a call twice, the call begins only once', async () => {
    const [queue, other] = await newQueues();
    const { tool, begun, end, runs } = slowTool();
    const again = Promise.withResolvers<{ taskId: string; body: string }>();
    async function* take(worker: string, signal: AbortSignal) {
      for await (const task of queue.take(worker, signal)) {
        again.resolve(task);
        yield task;
      }
    }
    async function* takeAgain() {
      yield again.promise;
    }
    const workers = [
      work({ ...bound(queue), take }, [tool]),
      work({ ...bound(other), take: takeAgain }, [tool]),
    ];
    const calling = call(queue, tool, { text: '' });
    await begun;
    end();
    expect(await calling).toEqual(done);
    for (const worker of workers) await worker.end();
    expect(runs()).toBe(1);
  });

  test('if a worker ends before its calls, it stops these calls and reports that they were stopped', async () => {
    const [queue] = await newQueues();
    const tool = toolOf(async (_input, { signal, print }) => {
      print('begun');
      await once(signal, 'abort');
      return { output: 'stopped with the worker', success: false };
    });
    const worker = work(queue, [tool]);
    const begun = Promise.withResolvers<string>();
    const calling = call(queue, tool, { text: '' }, { print: begun.resolve });
    await begun.promise;
    await worker.end();
    expect(await calling).toMatchObject({ output: 'stopped with the worker' });
  });

  test('INV-8: if the server of a call is lost, the call’s tool in a worker ends', async () => {
    const [queue] = await newQueues();
    const { tool, begun, end } = slowTool();
    work(queue, [tool]);
    const order = { tool: tool.name, input: { text: '' }, projectDir: '/' };
    const taskId = await queue.offer(JSON.stringify(order));
    const following = new AbortController();
    for await (const text of queue.follow(taskId, 'worker', following.signal)) {
      const { worker } = JSON.parse(text) as { worker: string };
      await queue.sendMessage(taskId, 'asker', JSON.stringify({ type: 'go', worker }));
      break;
    }
    const inside = await begun;
    await once(inside, 'abort');
    end();
    expect(inside.aborted).toBe(true);
  });
});

/** Returns the queue's methods as plain functions. */
function bound(queue: ToolQueue): ToolQueue {
  return {
    offer: async (body) => queue.offer(body),
    take: (worker, signal) => queue.take(worker, signal),
    stateOf: async (taskId) => queue.stateOf(taskId),
    sendMessage: async (...said) => queue.sendMessage(...said),
    follow: (...of) => queue.follow(...of),
    withdraw: async (taskId) => queue.withdraw(taskId),
  };
}

test('FR-001-23: a worker that waits for calls begins a call within 100 ms', async () => {
  const [queue] = await redisQueues();
  let began = 0;
  const tool = toolOf(async () => {
    began = performance.now();
    return done;
  });
  work(queue, [tool]);
  const usual = async () => {
    const took: number[] = [];
    for (let times = 0; times < 9; times += 1) {
      const called = performance.now();
      await call(queue, tool, { text: '' });
      took.push(began - called);
    }
    return took.toSorted((a, b) => a - b)[4]!;
  };
  // Other programs may delay calls, but never make them faster: one good try of eight is enough.
  let median = await usual();
  for (let tries = 1; tries < 8 && median >= 100; tries += 1) median = await usual();
  expect(median).toBeLessThan(100);
});

test('tools that run programs or take a long time run in workers; all other tools run on the server', async () => {
  const folder = makeProject();
  const [queue] = await memoryQueues();
  const offered: string[] = [];
  const watched = {
    ...bound(queue),
    offer: async (body: string) => {
      offered.push((JSON.parse(body) as { tool: string }).tool);
      return queue.offer(body);
    },
  };
  work(queue, toolsForWorkers({ fetch: true }));
  const inputs: Record<string, object> = {
    write: { path: 'a.txt', content: 'a\n' },
    edit: { path: 'a.txt', oldText: 'a', newText: 'b' },
    read: { path: 'a.txt' },
    list: {},
    plan: { entries: [] },
    search: { pattern: 'b' },
    bash: { command: 'cat a.txt' },
    fetch: { url: 'http://127.0.0.1/' },
  };
  for (const tool of builtInTools({ fetch: true, workers: watched })) {
    const input = tool.input.parse(inputs[tool.name]);
    await refusal(tool.run(input, { projectDir: folder, signal: never, print: () => {} }));
  }
  expect(offered.toSorted()).toEqual(['bash', 'fetch', 'search']);
  expect(existsSync(join(folder, 'a.txt'))).toBe(true);
});
