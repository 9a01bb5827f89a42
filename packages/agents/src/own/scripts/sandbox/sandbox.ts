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

/** How a script ended; the result is JSON. */
export type ScriptEnd = { result: string } | { error: ScriptError };

export interface SandboxOptions {
  /** QuickJS, compiled. */
  wasm: WebAssembly.Module;
  /** The tools' names. */
  tools: string[];
  limits: ScriptLimits;
  printed: PrintBuffer;
  /** Begins a call; its input is JSON. */
  onCall(id: number, name: string, input: string): void;
  /** Called when the script can only wait until a call is answered. */
  onWait(answers: number): void;
  /** Called once. The sandbox must not be used after it. */
  onEnd(ending: ScriptEnd): void;
}

/** The plain variant of QuickJS. Its types are those of its CommonJS twin. */
const plain = 'default' in release ? release.default : release;

const mebibyte = 1024 * 1024;
const pageBytes = 64 * 1024;
/** The initial and the largest memory of this QuickJS. */
const pages = { first: 256, most: 32_768 };
/** The stack limit that QuickJS enforces. The thread's stack must be far larger: see `run-script.ts`. */
const stackBytes = mebibyte / 2;
/** Memory for QuickJS at its start and for texts passed into it, in addition to the script's own memory. */
const otherBytes = 64 * mebibyte;
/** How many jobs (continuations of an `await`) run between two checks whether the script has ended. */
const jobsAtOnce = 100;

/**
 * One script in its own QuickJS, which can access only the tools. It is the plain variant of QuickJS: a call of a tool is a
 * promise inside that the host settles, so WebAssembly need not be suspended, as asyncify does. No handle is freed, because
 * the thread ends with the script.
 */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #memory: Memory;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  /** A handle of `Inside`. */
  readonly #inside: QuickJSHandle;
  /** The CPU time of this thread, in ms, at which the script's time is over. */
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

  /** Runs the code, the body of an async function, until it waits for a tool. */
  start(code: string): void {
    this.#until = cpuMs() + this.#options.limits.timeMs;
    this.#work(() => {
      const script = this.#context.evalCode(scriptHead + code + scriptTail, scriptFile);
      this.#hasBegun = script.error === undefined;
      if (script.error === undefined) this.#call('run', script.value);
      else this.#call('fail', script.error);
    });
  }

  /** Answers a call and continues the script. */
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

  /** Puts the script's functions into the sandbox; returns the functions that the host calls. */
  #furnish(): QuickJSHandle {
    const context = this.#context;
    const { limits, tools } = this.#options;
    const allowed: Allowed = { ...limits, tools, inputCharacters: longestInput };
    const given = [JSON.stringify(allowed), String(makeValues), String(makeTools)].join(',');
    const receive = context.newFunction('hear', (handle) => {
      const json = context.getString(handle);
      // There was not enough memory for the message.
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
    // QuickJS throws null if it has no memory for an error.
    const isMeant = name === undefined && message === 'null' && this.#hasGrown();
    const error = thrownError(thrown, limits);
    return isOutOfMemory || isMeant ? { ...error, ...noMemory(limits) } : error;
  }

  /** Runs a step inside, and all jobs that follow from it. */
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
    // The host's functions throw nothing themselves: an error means that memory ran out.
    if (error !== undefined && !this.#mustStop()) this.#fail(noMemory(this.#options.limits));
  }

  /** Whether the script has ended or its time is over. */
  #mustStop(): boolean {
    if (!this.#hasEnded && cpuMs() > this.#until) this.#fail(tooSlow(this.#options.limits));
    return this.#hasEnded;
  }

  /** Whether the script's memory has ever grown to about its limit. */
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

/** The CPU time used by this thread, in ms. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
