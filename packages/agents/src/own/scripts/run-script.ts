import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { cutDepth, maxDepth, thrownMessage } from '@liminal/protocol';
import { defaultLimits, longestInput, type ScriptLimits } from './limits.ts';
import { PrintBuffer } from './sandbox/print-buffer.ts';
import type { ScriptEnd } from './sandbox/sandbox.ts';
import { compile } from './sandbox/web-assembly.ts';
import {
  broken,
  cancelled,
  deepResult,
  longScript,
  noMemory,
  type ScriptError,
  tooSlow,
} from './script-error.ts';
import type { CallAnswer, WorkerMessage, ScriptTask } from './script-worker.ts';

/** The tools and callbacks of a script. */
export interface ScriptHost {
  readonly tools: readonly { readonly name: string }[];
  /**
   * Runs a tool for the script.
   * @param input - An unchecked JSON value that the script made.
   * @param signal - Aborts when the script ends before the call. The script's outcome waits until the call has settled.
   */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
  /** Called when the script has handled all answers so far and does nothing until the next answer. */
  waits?(): void;
}

interface ToolAnswer {
  /** The script's result of the call; if it failed, the message of the Error that the script's call throws. */
  output: string;
  success: boolean;
  /** When the answer came (ISO 8601 UTC); default now. */
  endedAt?: string;
}

export type ScriptOutcome =
  /** The result is a JSON value; null if the script returned nothing. */
  | { ok: true; result: unknown; printed: string }
  | { ok: false; error: ScriptError; printed: string };

export interface ScriptOptions {
  limits?: Partial<ScriptLimits>;
  signal: AbortSignal;
  /** The start by the script's own clock (ISO 8601 UTC), which only advances with answers; default now. */
  startedAt?: string;
}

/** Interval of the checks whether a script must be ended from outside, ms. */
const lookMs = 250;
/** The thread's stack in MiB: QuickJS must reach the limit of its own stack first. */
const stackSizeMb = 16;
/** Heap limit of the thread in MiB; the heap holds texts that are being passed on. */
const maxOldGenerationSizeMb = 256;

/**
 * Runs the body of an async JavaScript function in a sandbox, which has the tools as `tools.name(input)`, `print`, and nothing
 * else. Resolves when its thread has ended and its calls have settled. Rejects only because of a fault of Liminal. Time and
 * random numbers depend only on `startedAt` and the answers, so a script with the same ones does the same again.
 */
export async function runScript(
  code: string,
  host: ScriptHost,
  { limits: changed, signal, startedAt }: ScriptOptions,
): Promise<ScriptOutcome> {
  const limits = { ...defaultLimits, ...changed };
  const printed = new PrintBuffer(limits.outputCharacters);
  const tools = host.tools.map(({ name }) => name);
  const now = timeOf(startedAt);
  const task = { code, tools, limits, printed: printed.memory, now };
  const ending = await endingOf(task, host, signal);
  if ('error' in ending) return { ok: false, error: ending.error, printed: printed.read() };
  const result = JSON.parse(ending.result) as unknown;
  return { ok: true, result, printed: printed.read() };
}

async function endingOf(
  task: Omit<ScriptTask, 'wasm'>,
  host: ScriptHost,
  signal: AbortSignal,
): Promise<ScriptEnd> {
  const { length } = task.code;
  if (length > longestInput) return { error: longScript(length, longestInput) };
  const wasm = await quickJs();
  if (signal.aborted) return { error: cancelled };
  const ending = await runInThread({ ...task, wasm }, host, signal);
  return 'result' in ending && isTooDeep(ending.result) ? { error: deepResult(maxDepth) } : ending;
}

async function runInThread(
  task: ScriptTask,
  host: ScriptHost,
  signal: AbortSignal,
): Promise<ScriptEnd> {
  const worker = new Worker(new URL('./script-worker.ts', import.meta.url), {
    workerData: task,
    env: {},
    resourceLimits: { stackSizeMb, maxOldGenerationSizeMb },
  });
  const { promise: ending, resolve: end } = Promise.withResolvers<ScriptEnd>();
  const ended = new AbortController();
  const calls = new Set<Promise<void>>();
  let answers = 0;
  const answer = async (id: number, name: string, input: string) => {
    const { endedAt, ...result } = await callHost(host, name, input, ended.signal);
    answers += 1;
    worker.postMessage({ id, ...result, now: timeOf(endedAt) } satisfies CallAnswer);
  };
  worker.on('message', (message: WorkerMessage) => {
    if (message.type === 'end') end(message.ending);
    else if (message.type === 'waits') {
      if (message.answers === answers) host.waits?.();
    } else if (!ended.signal.aborted) {
      const call = answer(message.id, message.name, message.input).finally(() =>
        calls.delete(call),
      );
      calls.add(call);
    }
  });
  worker.on('error', (error) => end({ error: faultOf(error, task.limits) }));
  worker.once('exit', () => end({ error: broken('its thread ended') }));
  const cancel = () => end({ error: cancelled });
  signal.addEventListener('abort', cancel);
  const watch = setInterval(() => {
    if (isBeyondStopping(worker, task.limits)) end({ error: tooSlow(task.limits) });
  }, lookMs);
  try {
    return await ending;
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', cancel);
    ended.abort();
    await worker.terminate();
    await Promise.allSettled(calls);
  }
}

async function callHost(
  host: ScriptHost,
  name: string,
  input: string,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  if (isTooDeep(input)) {
    const output = `The input of ${name} is nested more than ${maxDepth} levels deep.`;
    return { output, success: false };
  }
  try {
    const { output, success, endedAt } = await host.call(name, JSON.parse(input), signal);
    return { output, success, ...(endedAt !== undefined && { endedAt }) };
  } catch (error) {
    return { output: thrownMessage(error), success: false };
  }
}

/**
 * Whether the script has computed much longer than allowed. It stops itself when its CPU time is over, but not within a
 * built-in function that does not return. From here only the time is known in which the thread did not wait; during that
 * time other work of the machine may have delayed it.
 */
function isBeyondStopping(worker: Worker, { timeMs }: ScriptLimits): boolean {
  return worker.performance.eventLoopUtilization().active > 3 * timeMs + 2_000;
}

/** In ms since 1970. */
const timeOf = (at: string | undefined): number => (at === undefined ? Date.now() : Date.parse(at));

const isTooDeep = (json: string): boolean => cutDepth(json) !== json;

function faultOf(error: unknown, limits: ScriptLimits): ScriptError {
  const isMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? noMemory(limits) : broken(error);
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiled once for all threads. */
async function quickJs(): Promise<WebAssembly.Module> {
  compiled ??= readFile(
    createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  ).then(compile);
  return compiled;
}
