import type { AnswerWriter } from '../answer-writer.ts';
import type {
  ListedModel,
  ModelAnswer,
  ModelCall,
  ModelClient,
  ModelRequest,
} from '../model-client.ts';
import { ModelError } from '../model-error.ts';

/** What the scripted model does with one request. */
export type Act = (
  writer: AnswerWriter,
  signal: AbortSignal,
  request: ModelRequest,
) => Promise<ModelAnswer> | ModelAnswer;

const usage = { inputTokens: 10, outputTokens: 5 };

/** A complete answer with this text. */
export const repliesWith =
  (text: string, finishReason = 'stop'): Act =>
  (writer) => {
    const id = writer.start({ type: 'message', id: 'said', content: '', origin: 'agent' });
    for (const word of text.split(/(?<= )/)) writer.append(id, word);
    writer.done(id);
    return { calls: [], finishReason, usage };
  };

/** An answer that calls tools. */
export const calls =
  (...wanted: [name: string, input: unknown][]): Act =>
  (writer) => {
    const made = wanted.map(([name, input], index): ModelCall => {
      const text = typeof input === 'string' ? input : JSON.stringify(input);
      const callId = `call_${index}`;
      const itemId = writer.add({
        type: 'function_call',
        id: callId,
        name,
        callId,
        arguments: text,
        origin: 'agent',
      });
      return { callId, name, arguments: text, itemId };
    });
    return { calls: made, finishReason: 'tool_calls', usage };
  };

/** An answer that breaks off after this text. */
export const breaksOff =
  (text: string, error: Error): Act =>
  (writer) => {
    const id = writer.start({ type: 'message', id: 'said', content: '', origin: 'agent' });
    writer.append(id, text);
    throw error;
  };

/** An answer that continues until the request is stopped. */
export const streamsUntilStopped =
  (text: string): Act =>
  async (writer, signal) => {
    const id = writer.start({ type: 'message', id: 'said', content: '', origin: 'agent' });
    writer.append(id, text);
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return stopped.promise;
  };

/** A scripted model that performs one act for each request. */
export class ScriptedClient implements ModelClient {
  readonly providerId: string;
  readonly requests: ModelRequest[] = [];
  readonly #acts: Act[];
  models: ListedModel[] = [{ id: 'one', name: 'One', contextWindow: 1_000 }];
  /** The ids of models that refuse a request with tools. */
  readonly withoutTools = new Set<string>();

  constructor(acts: Act[], providerId = 'openai') {
    this.#acts = acts;
    this.providerId = providerId;
  }

  async listModels(): Promise<ListedModel[]> {
    return this.models;
  }

  async answer(
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    if (request.tools.length > 0 && this.withoutTools.has(request.model)) {
      throw new ModelError('NO_TOOLS', 'It does not support tools.');
    }
    this.requests.push({ ...request, conversation: [...request.conversation] });
    const act = this.#acts.shift();
    if (act === undefined) throw new Error('The script has no more acts.');
    return act(writer, signal, request);
  }
}
