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

/** What a script can use: its tools, and callbacks. */
export interface ScriptHost {
  readonly tools: readonly { readonly name: string }[];
  /**
   * Runs a tool on behalf of the script.
   * @param input - A JSON value made by the script, not validated.
   * @param signal - Aborts if the script ends before the call has settled. The script's outcome is reported only after
   *   the call has settled.
   */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
  /** Called when the script has handled all answers so far and is waiting for the next answer. */
  waits?(): void;
}

interface ToolAnswer {
  /** The result that the script's call returns; if the call failed, the message of the Error that the call throws. */
  output: string;
  success: boolean;
  /** The time of the answer (ISO 8601 UTC); default: now. */
  endedAt?: string;
}

export type ScriptOutcome =
  /** The result as a JSON value; null if the script returned nothing. */
  | { ok: true; result: unknown; printed: string }
  | { ok: false; error: ScriptError; printed: string };

export interface ScriptOptions {
  limits?: Partial<ScriptLimits>;
  signal: AbortSignal;
  /**
   * The time at which the script's own clock starts (ISO 8601 UTC). The clock advances only with answers. Default: now.
   */
  startedAt?: string;
}

/** The interval between two checks whether a script must be ended from outside, in ms. */
const lookMs = 250;
/** The size of the thread's stack, in MiB; larger than the stack limit of QuickJS, which must be reached first. */
const stackSizeMb = 16;
/** The heap limit of the thread, in MiB; the heap contains the texts that are passed between the threads. */
const maxOldGenerationSizeMb = 256;

/**
 * Runs the body of an async JavaScript function in a sandbox. The sandbox has the tools as `tools.name(input)`,
 * `print`, and nothing else. Resolves when the script's thread has ended and its calls have settled. Rejects only if
 * Liminal itself has a fault. Time and random numbers in the script depend only on `startedAt` and the answers, so a
 * script that is run again with the same start and answers does the same as before.
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
 * Returns whether the script has used much more time than allowed. The script stops itself when its CPU time is over,
 * but cannot do so during a built-in function that does not return. From outside, the only known time is the time in
 * which the thread was not waiting; other work of the machine may have delayed the thread during that time.
 */
function isBeyondStopping(worker: Worker, { timeMs }: ScriptLimits): boolean {
  return worker.performance.eventLoopUtilization().active > 3 * timeMs + 2_000;
}

/** Returns the time in ms since 1970. */
const timeOf = (at: string | undefined): number => (at === undefined ? Date.now() : Date.parse(at));

const isTooDeep = (json: string): boolean => cutDepth(json) !== json;

function faultOf(error: unknown, limits: ScriptLimits): ScriptError {
  const isMemory =
    error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? noMemory(limits) : broken(error);
}

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles QuickJS once for all threads. */
async function quickJs(): Promise<WebAssembly.Module> {
  compiled ??= readFile(
    createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  ).then(compile);
  return compiled;
}
