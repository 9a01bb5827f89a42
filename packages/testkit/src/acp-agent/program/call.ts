/** A request of the client. The request is answered once, never, or as often as the script says. */
import type { AgentOutput } from './wire.ts';

export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class Call {
  readonly #voice: AgentOutput;
  readonly #usual: () => Promise<unknown>;
  /** The request's id; undefined for a notification. */
  readonly id: unknown;
  answered = false;
  /** Called before the answer is sent. */
  beforeAnswer = (): void => undefined;

  /**
   * @param usual - Makes the default result, which is used unless the script contains another answer.
   */
  constructor(voice: AgentOutput, id: unknown, usual: () => Promise<unknown>) {
    this.#voice = voice;
    this.id = id;
    this.#usual = usual;
  }

  result(result: unknown): Promise<void> {
    return this.#answer({ result });
  }

  error(error: { code: unknown; message: unknown; data?: unknown }): Promise<void> {
    return this.#answer({ error });
  }

  async usual(): Promise<void> {
    try {
      await this.result(await this.#usual());
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      await this.error({ code: error.code, message: error.message });
    }
  }

  #answer(answer: Record<string, unknown>): Promise<void> {
    this.answered = true;
    this.beforeAnswer();
    if (this.id === undefined) return Promise.resolve();
    return this.#voice.line({ jsonrpc: '2.0', id: this.id, ...answer });
  }
}
