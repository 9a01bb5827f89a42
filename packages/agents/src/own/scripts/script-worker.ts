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
  /** The start by the script's own clock: ms since 1970. */
  now: number;
}

/** A message from the thread. The input is JSON. */
export type WorkerMessage =
  | { type: 'call'; id: number; name: string; input: string }
  /** The script only waits for its calls. @param answers - How many answers it has had. */
  | { type: 'waits'; answers: number }
  | { type: 'end'; ending: ScriptEnd };

/** A message to the thread. */
export interface CallAnswer {
  id: number;
  success: boolean;
  output: string;
  /** When the answer came, by the script's clock. */
  now: number;
}

const { code, printed, now: begin, ...task } = workerData as ScriptTask;
const send = (message: WorkerMessage) => parentPort?.postMessage(message);

// QuickJS asks this thread for the time, and seeds its random numbers with it. Time only advances with an answer: a script
// that is run again with the same answers does the same.
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
