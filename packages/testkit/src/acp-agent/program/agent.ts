/** Handles the client's messages, line by line. */
import { Call } from './call.ts';
import type { Stage } from './live-session.ts';
import { Methods, type Params } from './methods.ts';
import type { Scene } from './player.ts';
import type { Message } from './wire.ts';

const notFound = -32002;
const parseError = -32700;

export class ScriptedAgent {
  readonly #stage: Stage;
  readonly #methods: Methods;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#methods = new Methods(stage);
  }

  start(): Promise<void> {
    return this.#stage.player.play(this.#stage.script.onStart ?? [], this.#scene({}));
  }

  async receive(line: string): Promise<void> {
    const message = parse(line);
    if (message === undefined) {
      const error = { code: parseError, message: 'Parse error' };
      await this.#stage.voice.line({ jsonrpc: '2.0', id: null, error });
    } else if (message.method === undefined) {
      this.#stage.player.answered(message);
    } else {
      await this.#called(message.method, message);
    }
  }

  async #called(method: string, { id, params = {} }: Message): Promise<void> {
    const { script, player, voice } = this.#stage;
    const scene = this.#scene(params);
    scene.words['requestId'] = id;
    const call = new Call(voice, id, async () => {
      const result = await this.#methods.call(method, params);
      // Steps after the answer to `session/new` belong to the new session.
      if (method === 'session/new') scene.sessionId = idIn(result);
      return result;
    });
    await player.play(script.on?.[method] ?? [], Object.assign(scene, { call }));
    if (call.answered) return;
    if (method === 'session/prompt') await this.#prompt(call, params);
    else await call.usual();
  }

  async #prompt(call: Call, params: Params): Promise<void> {
    const session = this.#methods.session(params);
    if (session !== undefined) return session.prompt(call, params['prompt']);
    await call.error({ code: notFound, message: 'There is no such session.' });
  }

  /** Returns the scene for the steps of a call that is not a turn. A cancellation does not stop these steps. */
  #scene(params: Params): Scene {
    const { sessionId } = params;
    const cwd = this.#methods.session(params)?.cwd ?? params['cwd'];
    return { sessionId, words: { sessionId, cwd }, signal: new AbortController().signal };
  }
}

const idIn = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'sessionId' in result
    ? result.sessionId
    : undefined;

function parse(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}
