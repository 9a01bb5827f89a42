import Anthropic from '@anthropic-ai/sdk';
import { sizeOf } from '@liminal/protocol';
import type { AnswerWriter } from '../../loop/answer-writer.ts';
import {
  type ListedModel,
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
} from '../../loop/model-client.ts';
import { modelFetch } from '../../loop/model-fetch.ts';
import { secretsOf, withoutSecrets } from '../../loop/hide-secrets.ts';
import { longestTimer } from '../../loop/fetch-without-timeout.ts';
import { Refusals } from '../../loop/refusals.ts';
import { wellFormed } from '../../loop/sendable.ts';
import { modelErrorOf, noStream, refusalIn, statusOf } from './errors.ts';
import { factsListed, type ModelFacts } from './model-facts.ts';
import { buildRequest } from './request.ts';
import { AnswerTranslator } from './translate.ts';

export interface AnthropicOptions {
  /** The server's URL without the `/v1` with which the API's paths begin. Default: Anthropic's own. */
  baseUrl?: string | undefined;
  /** Optional, because servers on the user's own machine often need no key. */
  apiKey?: string | undefined;
  /** Headers of every request, for example for a gateway. */
  headers?: Record<string, string> | undefined;
  /** Whether models may search the web with the maker's own tool. */
  webSearch?: boolean | undefined;
}

const anthropic = 'https://api.anthropic.com';
/** The time limit for the whole list of models, in ms. */
const listTimeoutMs = 60_000;
const modelsPerPage = 1_000;
/** Limits of the list of models, because a server may send endless pages. */
const [maxModels, maxPages] = [5_000, 10];
/** The largest entry of the list of models, in characters of JSON; larger entries are left out. */
const largestEntry = 64 * 1024;

/** A client for Anthropic's Messages API. The client reads no environment variables, and does not retry. */
export class AnthropicClient implements ModelClient {
  readonly providerId = 'anthropic';
  readonly #baseUrl: string;
  readonly #secrets: readonly string[];
  readonly #sdk: Anthropic;
  readonly #webSearch: boolean;
  readonly #refusals = new Refusals();
  /** The facts about each model from the server's list. */
  readonly #listed = new Map<string, Partial<ModelFacts>>();

  constructor({
    baseUrl = anthropic,
    apiKey = '',
    headers,
    webSearch = false,
  }: AnthropicOptions = {}) {
    this.#webSearch = webSearch;
    // People often copy the URL together with `/v1`, which is already the start of the API's paths.
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+(v1\/*)?$/, '');
    this.#secrets = secretsOf(apiKey, headers);
    this.#sdk = new Anthropic({
      baseURL: this.#baseUrl,
      // With an empty key, the SDK does not search files and the environment for a key.
      apiKey,
      defaultHeaders: { ...(apiKey === '' && { authorization: null }), ...lowerCased(headers) },
      maxRetries: 0,
      timeout: longestTimer,
      fetch: (input, init) => modelFetch(input, init, statusOf),
      // With `logLevel: 'off'`, the SDK does not print model output that it cannot parse.
      logLevel: 'off',
      openTelemetry: false,
    });
  }

  async listModels(signal: AbortSignal): Promise<ListedModel[]> {
    const models = new Map<string, ListedModel>();
    const options = { signal: AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]) };
    let pages = 0;
    try {
      const first = await this.#sdk.models.list({ limit: modelsPerPage }, options);
      for await (const page of first.iterPages()) {
        for (const entry of page.data) {
          const isLarge = sizeOf(entry, largestEntry) > largestEntry;
          if (isLarge || models.size === maxModels) continue;
          models.set(entry.id, listedModel(entry));
          this.#listed.set(entry.id, factsListed(entry));
        }
        pages += 1;
        if (pages === maxPages || models.size === maxModels) break;
      }
    } catch (error) {
      throw this.#errorOf(error, signal);
    }
    return [...models.values()];
  }

  async answer(
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const listed = this.#listed.get(request.model);
    const webSearch = this.#webSearch;
    try {
      return await this.#refusals.ask(request, {
        bodyOf: (put) => wellFormed(buildRequest(put, { listed, webSearch })),
        send: async (params) => this.#ask(params, writer, signal),
        refusalIn: (error) => (writer.hasWritten ? undefined : refusalIn(error)),
      });
    } catch (error) {
      throw this.#errorOf(error, signal);
    }
  }

  async #ask(
    params: Anthropic.MessageCreateParamsStreaming,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { data: stream, response } = await this.#sdk.messages
      .create(params, { signal })
      .withResponse();
    const translator = new AnswerTranslator(writer);
    for await (const event of stream) translator.read(event);
    // If a stream breaks off or is aborted, the SDK reports no error, as if the stream were complete.
    const type = response.headers.get('content-type') ?? '';
    if (!translator.isComplete && !type.includes('event-stream')) throw noStream(type);
    return translator.answer();
  }

  #errorOf(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    return withoutSecrets(modelErrorOf(error, this.#baseUrl), this.#secrets, '***');
  }
}

/** Lower-case header names: the SDK treats a name in other case as another header. */
const lowerCased = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Converts an entry of the list of models. Servers other than Anthropic's leave out most fields. */
function listedModel(entry: Partial<Anthropic.ModelInfo> & { id: string }): ListedModel {
  return {
    id: entry.id,
    name: entry.display_name ?? undefined,
    contextWindow: entry.max_input_tokens ?? undefined,
  };
}
