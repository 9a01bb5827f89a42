import release from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
} from 'quickjs-emscripten-core';
import { longestInput, type ScriptLimits } from '../limits.ts';
import {
  broken,
  thrownError,
  longResult,
  neverEnds,
  noMemory,
  tooManyCalls,
  tooMuchPrinted,
  tooSlow,
  type ScriptError,
  scriptFile,
  scriptHead,
  scriptTail,
  syntaxErrorOf,
} from '../script-error.ts';
import {
  type Allowed,
  type Inside,
  makeInside,
  makeTools,
  makeValues,
  type Thrown,
  type SandboxMessage,
} from './inside.ts';
import type { PrintBuffer } from './print-buffer.ts';
import { Memory } from './web-assembly.ts';

/** The end of a script; a result is JSON. */
export type ScriptEnd = { result: string } | { error: ScriptError };

export interface SandboxOptions {
  /** QuickJS, compiled. */
  wasm: WebAssembly.Module;
  /** The tools' names. */
  tools: string[];
  limits: ScriptLimits;
  printed: PrintBuffer;
  /** Called when the script calls a tool; the input is JSON. */
  onCall(id: number, name: string, input: string): void;
  /** Called when the script cannot continue before a call is answered. */
  onWait(answers: number): void;
  /** Called once, when the script ends. After this call, the sandbox must not be used. */
  onEnd(ending: ScriptEnd): void;
}

/** The variant of QuickJS without asyncify. The types come from the CommonJS version of the package. */
const plain = 'default' in release ? release.default : release;

const mebibyte = 1024 * 1024;
const pageBytes = 64 * 1024;
/** The memory of this QuickJS, with its initial and its largest size. */
const pages = { first: 256, most: 32_768 };
/** The stack limit that QuickJS enforces. The stack of the thread must be far larger: see `run-script.ts`. */
const stackBytes = mebibyte / 2;
/** The memory for QuickJS itself and for texts passed into it, in addition to the script's own memory. */
const otherBytes = 64 * mebibyte;
/** The number of jobs (continuations of an `await`) between two checks whether the script has ended. */
const jobsAtOnce = 100;

/**
 * One script in its own QuickJS; the script can access only the tools. The variant of QuickJS without asyncify is used:
 * a call of a tool returns a promise that the host settles later, so WebAssembly need not be suspended. Handles are not
 * freed, because the thread ends with the script.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #memory: Memory;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  /** A handle of `Inside`. */
  readonly #inside: QuickJSHandle;
  /** The limit for the CPU time of this thread, in ms, at which the script is ended. */
  #until = Infinity;
  #hasBegun = false;
  #hasEnded = false;
  #callsUnderWay = 0;
  #answers = 0;

  private constructor(options: SandboxOptions, memory: Memory, runtime: QuickJSRuntime) {
    this.#options = options;
    this.#memory = memory;
    this.#runtime = runtime;
    runtime.setMemoryLimit(options.limits.memoryBytes);
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => this.#mustStop());
    this.#context = runtime.newContext();
    this.#inside = this.#furnish();
  }

  static async make(options: SandboxOptions): Promise<Sandbox> {
    const needed = Math.ceil((options.limits.memoryBytes + otherBytes) / pageBytes);
    const maximum = Math.min(needed, pages.most);
    const memory = new Memory({ initial: pages.first, maximum });
    const quickJs = newVariant(plain, { wasmModule: options.wasm, wasmMemory: memory });
    const module = await newQuickJSWASMModuleFromVariant(quickJs);
    return new Sandbox(options, memory, module.newRuntime());
  }

  /** Runs the code, which is the body of an async function, until it waits for a tool. */
  start(code: string): void {
    this.#until = cpuMs() + this.#options.limits.timeMs;
    this.#work(() => {
      const script = this.#context.evalCode(scriptHead + code + scriptTail, scriptFile);
      this.#hasBegun = script.error === undefined;
      if (script.error === undefined) this.#call('run', script.value);
      else this.#call('fail', script.error);
    });
  }

  /** Passes the answer to a call into the sandbox, and continues the script. */
  settle(id: number, success: boolean, output: string): void {
    if (this.#hasEnded) return;
    const context = this.#context;
    const { length } = output;
    const fits = length <= this.#options.limits.memoryBytes / 16;
    const text = fits ? output : `The output has ${length} characters, too many for a script.`;
    this.#callsUnderWay -= 1;
    this.#answers += 1;
    this.#work(() => {
      const isSuccess = success && fits ? context.true : context.false;
      const json = context.newString(JSON.stringify(text));
      this.#call('settle', context.newNumber(id), isSuccess, json);
    });
  }

  /** Defines the script's functions in the sandbox; returns the functions that the host calls. */
  #furnish(): QuickJSHandle {
    const context = this.#context;
    const { limits, tools } = this.#options;
    const allowed: Allowed = { ...limits, tools, inputCharacters: longestInput };
    const given = [JSON.stringify(allowed), String(makeValues), String(makeTools)].join(',');
    const receive = context.newFunction('hear', (handle) => {
      const json = context.getString(handle);
      // The memory was not enough for the message.
      if (json === '') this.#fail(noMemory(this.#options.limits));
      else if (!this.#hasEnded) this.#onMessage(JSON.parse(json) as SandboxMessage);
    });
    const make = context
      .evalCode(`(hear) => (${String(makeInside)})(hear,${given})`, 'inside.js')
      .unwrap();
    return context.callFunction(make, context.undefined, receive).unwrap();
  }

  #onMessage(message: SandboxMessage): void {
    const { printed, limits } = this.#options;
    switch (message.type) {
      case 'call':
        this.#callsUnderWay += 1;
        this.#options.onCall(message.id, message.name, message.input);
        return;
      case 'print':
        if (!printed.add(message.text)) this.#fail(tooMuchPrinted(limits));
        return;
      case 'too_many_calls':
        this.#fail(tooManyCalls(limits));
        return;
      case 'result':
        if (message.json.length <= limits.outputCharacters) this.#end({ result: message.json });
        else this.#fail(longResult(message.json.length, limits));
        return;
      case 'thrown':
        this.#fail(this.#errorOf(message.thrown));
    }
  }

  #errorOf(thrown: Thrown): ScriptError {
    const { limits } = this.#options;
    const { name, message } = thrown;
    if (!this.#hasBegun && name === 'SyntaxError') return syntaxErrorOf(thrown, limits);
    const isOutOfMemory = name === 'InternalError' && message === 'out of memory';
    // If QuickJS has no memory for an error, QuickJS throws null.
    const isMeant = name === undefined && message === 'null' && this.#hasGrown();
    const error = thrownError(thrown, limits);
    return isOutOfMemory || isMeant ? { ...error, ...noMemory(limits) } : error;
  }

  /** Runs a step in the sandbox, and then all jobs that result from it. */
  #work(step: () => void): void {
    try {
      step();
      while (!this.#mustStop() && this.#runtime.hasPendingJob()) {
        this.#runtime.executePendingJobs(jobsAtOnce);
      }
      if (this.#hasEnded) return;
      if (this.#callsUnderWay > 0) return this.#options.onWait(this.#answers);
      this.#fail(this.#hasGrown() ? noMemory(this.#options.limits) : neverEnds);
    } catch (error) {
      this.#fail(broken(error));
    }
  }

  #call(name: keyof Inside, ...given: QuickJSHandle[]): void {
    const { error } = this.#context.callMethod(this.#inside, name, given);
    // The host's functions never throw, so an error here means that the memory was exhausted.
    if (error !== undefined && !this.#mustStop()) this.#fail(noMemory(this.#options.limits));
  }

  /** Returns whether the script has ended, or has used up its time. */
  #mustStop(): boolean {
    if (!this.#hasEnded && cpuMs() > this.#until) this.#fail(tooSlow(this.#options.limits));
    return this.#hasEnded;
  }

  /** Returns whether the script's memory has at any time nearly reached its limit. */
  #hasGrown(): boolean {
    const { byteLength } = this.#memory.buffer;
    const atFirst = pages.first * pageBytes;
    return byteLength > Math.max(atFirst, 0.9 * this.#options.limits.memoryBytes);
  }

  #fail(error: ScriptError): void {
    this.#end({ error });
  }

  #end(ending: ScriptEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.onEnd(ending);
  }
}

/** Returns the CPU time used by this thread, in ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
