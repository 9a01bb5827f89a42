/** Plays steps. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from './call.ts';
import { startChild } from './child.ts';
import { flood } from './flood.ts';
import { fuzzLines, type Fuzz } from '../fuzz/fuzz.ts';
import type { TestConnection } from './test-connection.ts';
import type { Step } from '../script.ts';
import { never, type Message, type AgentOutput } from './wire.ts';
import { fillIn, type Words } from './words.ts';

/** The context in which steps are played. */
export interface Scene {
  sessionId: unknown;
  words: Words;
  /** Aborts the scene at any step. The scene's promise then rejects with `Stopped`. */
  signal: AbortSignal;
  /** The call that the steps `stop`, `result`, `error` and `answer` reply to. */
  call?: Call;
  /** Called with each update of the session, so that the session's history contains the update. */
  note?: (update: Record<string, unknown>) => void;
}

export class Stopped extends Error {}

type Asked = Extract<Step, { request: unknown }>['request'];

const firstRequestId = 1000;

export class Player {
  readonly #voice: AgentOutput;
  readonly #test: TestConnection | undefined;
  readonly #asked = new Map<string, (answer: Message) => void>();
  #requests = firstRequestId;

  constructor(voice: AgentOutput, test: TestConnection | undefined) {
    this.#voice = voice;
    this.#test = test;
  }

  /** Handles an answer to a request of the agent. */
  answered(answer: Message): void {
    const key = JSON.stringify(answer.id);
    this.#asked.get(key)?.(answer);
    this.#asked.delete(key);
  }

  async play(steps: readonly Step[], scene: Scene): Promise<void> {
    for (const step of steps) {
      await this.#step(step, scene);
      if (scene.signal.aborted) throw new Stopped();
    }
  }

  #step(step: Step, scene: Scene): Promise<unknown> {
    if ('say' in step) return this.#chunk('agent_message_chunk', step.say, scene);
    if ('think' in step) return this.#chunk('agent_thought_chunk', step.think, scene);
    if ('update' in step) return this.#update(step.update, scene, step.sessionId);
    if ('message' in step) return this.#voice.line(fillIn(step.message, scene.words));
    if ('raw' in step) {
      return this.#voice.raw(String(fillIn(step.raw, scene.words)) + (step.end ?? '\n'));
    }
    if ('bytes' in step) return this.#voice.raw(Buffer.from(step.bytes, 'base64'));
    if ('request' in step) return this.#request(step.request, scene);
    if ('gate' in step) return until(this.#pass(step.gate), scene.signal);
    if ('pauseMs' in step) return until(sleep(step.pauseMs), scene.signal);
    if ('flood' in step) return flood(this.#voice, scene.sessionId, step.flood, scene.signal);
    if ('fuzz' in step) return this.#fuzz(step.fuzz, scene);
    if ('repeat' in step) return this.#repeat(step.repeat, scene);
    return this.#end(step, scene);
  }

  async #end(step: Step, { call, signal }: Scene): Promise<unknown> {
    if ('stop' in step) return call?.result({ stopReason: 'end_turn', ...step.stop });
    if ('result' in step) return call?.result(step.result);
    if ('answer' in step) return call?.usual();
    if ('error' in step) return call?.error(step.error);
    if ('exit' in step) return this.#exit(step.exit);
    if ('hang' in step) return until(never, signal);
    if ('spawn' in step) {
      return this.#test?.report({ type: 'spawned', pid: await startChild(step.spawn) });
    }
    if ('stderr' in step) return void process.stderr.write(`${step.stderr}\n`);
    this.#voice.stopWriting();
    await this.#test?.report({ type: 'reached', gate: 'silence' });
    return until(never, signal);
  }

  #chunk(sessionUpdate: string, text: string, scene: Scene): Promise<void> {
    return this.#update({ sessionUpdate, content: { type: 'text', text } }, scene);
  }

  #update(update: Record<string, unknown>, scene: Scene, other?: unknown): Promise<void> {
    const filled = fillIn(update, scene.words) as Record<string, unknown>;
    if (other === undefined) scene.note?.(filled);
    return this.#voice.update(other ?? scene.sessionId, filled);
  }

  async #request(asked: Asked, scene: Scene): Promise<void> {
    const { method, as, onAnswer = [], wait = true } = asked;
    const id = 'id' in asked ? asked.id : this.#requests++;
    const answer = new Promise<Message>((resolve) => {
      this.#asked.set(JSON.stringify(id), resolve);
    });
    const params = fillIn({ sessionId: scene.sessionId, ...asked.params }, scene.words);
    await this.#voice.line({ jsonrpc: '2.0', id, method, params });
    if (!wait) return;
    const { result, error } = await until(answer, scene.signal);
    if (as !== undefined) scene.words[as] = result ?? error;
    const said = JSON.stringify(result ?? error ?? null);
    const branch = onAnswer.find(({ when }) => when === undefined || said.includes(when));
    await this.play(branch?.steps ?? [], scene);
  }

  async #repeat({ times, steps }: { times: number; steps: Step[] }, scene: Scene): Promise<void> {
    for (let i = 0; i < times; i++) {
      scene.words['i'] = i;
      await this.play(steps, scene);
      await listen();
    }
  }

  async #fuzz(options: Fuzz, { sessionId, signal }: Scene): Promise<void> {
    for (const line of fuzzLines(options, sessionId)) {
      await this.#voice.raw(`${line}\n`);
      if (signal.aborted) return;
      await listen();
    }
  }

  #pass(gate: string): Promise<void> {
    if (this.#test === undefined) throw new Error(`No test is connected to open the gate ${gate}.`);
    return this.#test.pass(gate);
  }

  async #exit({ code = 0, signal }: { code?: number; signal?: string }): Promise<void> {
    await this.#voice.flushed();
    if (signal !== undefined) process.kill(process.pid, signal);
    else process.exit(code);
    return never;
  }
}

/** Lets the agent read new input during a long scene, for example a cancellation. */
const listen = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits until the promise is settled, or rejects when the scene is stopped. */
async function until<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw new Stopped();
  const stopped = Promise.withResolvers<never>();
  const stop = (): void => stopped.reject(new Stopped());
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
