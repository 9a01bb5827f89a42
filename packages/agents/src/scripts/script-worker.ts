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
}

/** What the thread says. The input is JSON. */
export type Said =
  | { type: 'call'; id: number; name: string; input: string }
  | { type: 'end'; ending: Ending };

/** What it is told. */
export interface Answer {
  id: number;
  success: boolean;
  output: string;
}

const { code, printed, ...task } = workerData as Task;
const say = (said: Said) => parentPort?.postMessage(said);
const sandbox = await Sandbox.make({
  ...task,
  printed: new Printed(printed),
  onCall: (id, name, input) => say({ type: 'call', id, name, input }),
  onEnd: (ending) => say({ type: 'end', ending }),
});
parentPort?.on('message', ({ id, success, output }: Answer) => sandbox.settle(id, success, output));
sandbox.start(code);
