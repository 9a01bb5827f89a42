import type { EventPayload, OutputItem } from '@liminal/protocol';
import { TurnWriter } from '../../src/base/turn-writer.ts';
import { AnswerWriter } from '../../src/own/loop/answer-writer.ts';
import type { ModelAnswer, ModelRequest } from '../../src/own/loop/model-client.ts';
import type { OpenAiClient } from '../../src/own/makers/openai/index.ts';
import { doneItems } from '../../src/testing/collected-turn.ts';

export const user = (content: string): OutputItem => ({
  type: 'message',
  id: 'u',
  origin: 'user',
  content,
});

const requestOf = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'scripted-model',
  instructions: 'Be short.',
  conversation: [user('hi')],
  tools: [],
  ...more,
});

/** One request to a model, and the events of its answer. */
export class Asking {
  readonly payloads: EventPayload[] = [];
  readonly answer: Promise<ModelAnswer>;
  readonly #stop = new AbortController();

  constructor(client: OpenAiClient, more: Partial<ModelRequest> = {}) {
    const turn = new TurnWriter('t', ({ payload }) => this.payloads.push(payload));
    const writer = new AnswerWriter(turn, new Set());
    this.answer = client.answer(requestOf(more), writer, this.#stop.signal);
    // Some tests look only at the server, so a rejection must not be unhandled.
    this.answer.catch(() => undefined);
  }

  get items(): OutputItem[] {
    return doneItems(this.payloads);
  }

  /** The answer's text so far, including items that have not ended. */
  get text(): string {
    return this.payloads
      .map((payload) => (payload.type === 'item_delta' ? payload.deltaContent : ''))
      .join('');
  }

  stop(): void {
    this.#stop.abort();
  }
}

/** Waits for an answer, and returns its items. */
export async function itemsOf(
  client: OpenAiClient,
  more: Partial<ModelRequest> = {},
): Promise<OutputItem[]> {
  const asking = new Asking(client, more);
  await asking.answer;
  return asking.items;
}
