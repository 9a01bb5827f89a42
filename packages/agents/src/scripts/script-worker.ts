/** Runs in a thread of its own, one for each script: see `run-script.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptLimits } from './limits.ts';
import { Printed } from './sandbox/printed.ts';
import { type Ending, Sandbox } from './sandbox/sandbox.ts';

export interface Task {
  code: string;
  /** Their names. */
  tools: string[];
  limits: ScriptLimits;
  /** Of a `Printed`. */
  printed: SharedArrayBuffer;
  /** QuickJS, compiled. */
  wasm: WebAssembly.Module;
  /** When it begins, by its own clock: ms since 1970. */
  now: number;
}

/** What the thread says. The input is JSON. */
export type Said =
  | { type: 'call'; id: number; name: string; input: string }
  /** The script does nothing but wait for its calls. @param answers - How many it has had. */
  | { type: 'waits'; answers: number }
  | { type: 'end'; ending: Ending };

/** What it is told. */
export interface Answer {
  id: number;
  success: boolean;
  output: string;
  /** When it came, by the script's clock. */
  now: number;
}

const { code, printed, now: begin, ...task } = workerData as Task;
const say = (said: Said) => parentPort?.postMessage(said);

// QuickJS asks this thread for the time, and begins its random numbers with it. Time moves on only with an answer: a script
// that is run again with the same answers does the same.
let now = begin;
Date.now = () => now;

const sandbox = await Sandbox.make({
  ...task,
  printed: new Printed(printed),
  onCall: (id, name, input) => say({ type: 'call', id, name, input }),
  onWait: (answers) => say({ type: 'waits', answers }),
  onEnd: (ending) => say({ type: 'end', ending }),
});
parentPort?.on('message', ({ id, success, output, now: at }: Answer) => {
  now = Math.max(now, at);
  sandbox.settle(id, success, output);
});
sandbox.start(code);
