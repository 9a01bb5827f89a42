import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

/** Passes one session's user messages to the SDK, as one iterable that lasts as long as the process. */
export class InputQueue implements AsyncIterable<SDKUserMessage> {
  readonly #messages: SDKUserMessage[] = [];
  #wake = Promise.withResolvers<void>();
  #isEnded = false;

  /**
   * `uuid` is the id with which Claude Code later refers to the message. With `priority: 'next'` the model reads the
   * message within the running turn, after the running tools (`now` would end the turn). With `shouldQuery: false` the
   * message begins no turn: the model reads it with the next message.
   */
  push(
    uuid: NonNullable<SDKUserMessage['uuid']>,
    content: SDKUserMessage['message']['content'],
    more: Pick<SDKUserMessage, 'priority' | 'shouldQuery' | 'client_composed'> = {},
  ): void {
    const message = { role: 'user' as const, content };
    this.#messages.push({ type: 'user', uuid, message, parent_tool_use_id: null, ...more });
    this.#wake.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    for (;;) {
      yield* this.#messages.splice(0);
      if (this.#isEnded) return;
      await this.#wake.promise;
      this.#wake = Promise.withResolvers<void>();
    }
  }
}
