import type { AnswerWriter } from './answer-writer.ts';
import type { ListedModel, ModelAnswer, ModelClient, ModelRequest } from './model-client.ts';

/**
 * A client that is loaded at its first request, because a maker's SDK is large and most servers do not need the SDK.
 */
export class LazyClient implements ModelClient {
  readonly providerId: string;
  readonly #load: () => Promise<ModelClient>;
  #client: Promise<ModelClient> | undefined;

  constructor(providerId: string, load: () => Promise<ModelClient>) {
    this.providerId = providerId;
    this.#load = load;
  }

  async listModels(signal: AbortSignal): Promise<ListedModel[]> {
    return (await this.#loaded()).listModels(signal);
  }

  async answer(
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    return (await this.#loaded()).answer(request, writer, signal);
  }

  #loaded(): Promise<ModelClient> {
    this.#client ??= this.#load();
    return this.#client;
  }
}
