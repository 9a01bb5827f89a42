import type { Query, SDKMessage, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

/** Replaces the Agent SDK. Returns the messages that a test provides, one by one. */
export class FakeClaude {
  /** Returns the answer to a message: lines of JSON, or other values. */
  answer: (uuid: string) => Iterable<string | object> = () => [];

  query({ prompt }: { prompt: string | AsyncIterable<SDKUserMessage> }): Query {
    if (typeof prompt === 'string') throw new Error('A session is given its messages one by one.');
    const nothing = async (): Promise<void> => {};
    const fake = {
      initializationResult: async () => ({ models: [], commands: [], agents: [] }),
      interrupt: nothing,
      setModel: nothing,
      setPermissionMode: nothing,
      close: () => undefined,
    };
    return Object.assign(this.#messages(prompt), fake) as unknown as Query;
  }

  async *#messages(prompt: AsyncIterable<SDKUserMessage>): AsyncGenerator<SDKMessage> {
    for await (const { uuid } of prompt) {
      for (const said of this.answer(uuid ?? '')) {
        yield (typeof said === 'string' ? JSON.parse(said) : said) as SDKMessage;
      }
    }
  }
}
