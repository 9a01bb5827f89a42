/** The code of the thread that runs one script: see `run-script.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptLimits } from './limits.ts';
import { PrintBuffer } from './sandbox/print-buffer.ts';
import { type ScriptEnd, Sandbox } from './sandbox/sandbox.ts';

export interface ScriptTask {
  code: string;
  /** The tools' names. */
  tools: string[];
  limits: ScriptLimits;
  /** The memory of a `PrintBuffer`. */
  printed: SharedArrayBuffer;
  /** QuickJS, compiled. */
  wasm: WebAssembly.Module;
  /** The time at which the script's own clock starts, in ms since 1970. */
  now: number;
}

/** A message from the thread to the server. The input is JSON. */
export type WorkerMessage =
  | { type: 'call'; id: number; name: string; input: string }
  /**
   * The script can only wait for its calls.
   * @param answers - The number of answers that it has received.
   */
  | { type: 'waits'; answers: number }
  | { type: 'end'; ending: ScriptEnd };

/** A message from the server to the thread. */
export interface CallAnswer {
  id: number;
  success: boolean;
  output: string;
  /** The time of the answer on the script's own clock. */
  now: number;
}

const { code, printed, now: begin, ...task } = workerData as ScriptTask;
const send = (message: WorkerMessage) => parentPort?.postMessage(message);

// QuickJS reads the time from this thread, and seeds its random numbers with that time. The time advances only with an
// answer, so that a script that is run again with the same answers does the same.
let now = begin;
Date.now = () => now;

const sandbox = await Sandbox.make({
  ...task,
  printed: new PrintBuffer(printed),
  onCall: (id, name, input) => send({ type: 'call', id, name, input }),
  onWait: (answers) => send({ type: 'waits', answers }),
  onEnd: (ending) => send({ type: 'end', ending }),
});
parentPort?.on('message', ({ id, success, output, now: at }: CallAnswer) => {
  now = Math.max(now, at);
  sandbox.settle(id, success, output);
});
sandbox.start(code);
