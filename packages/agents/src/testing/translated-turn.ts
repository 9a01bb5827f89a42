import { asError, type EventDraft } from '@liminal/protocol';
import { TurnWriter } from '../base/turn-writer.ts';
import { AnswerWriter } from '../own/loop/answer-writer.ts';
import type { ModelAnswer } from '../own/loop/model-client.ts';
import { ModelError } from '../own/loop/model-error.ts';

export interface Translation {
  turnId: string;
  modelId: string;
  /** The time, ISO 8601 UTC. */
  now: () => string;
}

interface Translator {
  read(chunk: unknown): void;
  end(): ModelAnswer;
}

/** Translates one answer to a turn: start, items, usage and end. */
export async function* translateTurn(
  chunks: AsyncIterable<unknown>,
  { turnId, modelId, now }: Translation,
  translating: (writer: AnswerWriter) => Translator,
): AsyncGenerator<EventDraft> {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter(turnId, (draft) => drafts.push(draft));
  const translator = translating(new AnswerWriter(writer, new Set(), now));
  writer.at(now());
  writer.begin({ modelId, providerId: 'openai', trigger: 'user' }, undefined);
  yield* drafts.splice(0);
  try {
    for await (const chunk of chunks) {
      translator.read(chunk);
      yield* drafts.splice(0);
    }
    const { finishReason, usage } = translator.end();
    writer.at(now());
    const unplaced = writer.takeUnplaced();
    if (unplaced.length > 0) writer.notice(notShown, { raw: unplaced });
    if (usage !== undefined) writer.write({ type: 'usage_update', usage });
    writer.end({
      type: 'response_done',
      status: 'completed',
      finishReason,
      ...(usage !== undefined && { usage }),
    });
  } catch (error) {
    writer.at(now());
    writer.end({ type: 'response_error', error: objectOf(error) });
  }
  yield* drafts.splice(0);
}

const notShown = 'The model’s server sent something that Liminal cannot show. It is stored.';

function objectOf(error: unknown): { code: string; message: string } {
  if (error instanceof ModelError) return error.asObject;
  return { code: 'MODEL_ERROR', message: asError(error).message };
}
