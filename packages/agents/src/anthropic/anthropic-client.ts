import Anthropic from '@anthropic-ai/sdk';
import { sizeOf } from '@liminal/protocol';
import type { AnswerWriter } from '../models/answer-writer.ts';
import {
  type ListedModel,
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
} from '../models/model-client.ts';
import { modelFetch } from '../models/model-fetch.ts';
import { secretsOf, withoutSecrets } from '../models/hide-secrets.ts';
import { longestTimer } from '../models/patient-fetch.ts';
import { Refusals } from '../models/refusals.ts';
import { wellFormed } from '../models/sendable.ts';
import { modelErrorOf, noStream, refusalIn, statusOf } from './errors.ts';
import { factsListed, type ModelFacts } from './model-facts.ts';
import { buildRequest } from './request.ts';
import { AnswerTranslator } from './translate.ts';

export interface AnthropicOptions {
  /** Without the `/v1` of its paths. Default: Anthropic's own. */
  baseUrl?: string | undefined;
  /** Servers on one's own machine often need none. */
  apiKey?: string | undefined;
  /** Headers of every request, as gateways want them. */
  headers?: Record<string, string> | undefined;
  /** Whether models may search the web by the server's own tool. */
  webSearch?: boolean | undefined;
}

const anthropic = 'https://api.anthropic.com';
/** How long the whole list of models may take, ms. */
const listTimeoutMs = 60_000;
const modelsPerPage = 1_000;
/** A server whose pages do not end is left here. */
const [maxModels, maxPages] = [5_000, 10];
/** The largest entry of the list, in characters of JSON; larger ones are left out. */
const largestEntry = 64 * 1024;

/** A server that speaks Anthropic's Messages API. Reads no environment, and never retries by itself. */
export class AnthropicClient implements ModelClient {
  readonly providerId = 'anthropic';
  readonly #baseUrl: string;
  readonly #secrets: readonly string[];
  readonly #sdk: Anthropic;
  readonly #webSearch: boolean;
  readonly #refusals = new Refusals();
  /** What the server has said of its models when it listed them. */
  readonly #listed = new Map<string, Partial<ModelFacts>>();

  constructor({
    baseUrl = anthropic,
    apiKey = '',
    headers,
    webSearch = false,
  }: AnthropicOptions = {}) {
    this.#webSearch = webSearch;
    // People copy it with the start of the paths.
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+(v1\/*)?$/, '');
    this.#secrets = secretsOf(apiKey, headers);
    this.#sdk = new Anthropic({
      baseURL: this.#baseUrl,
      // An empty key keeps the SDK from looking for one in files and the environment.
      apiKey,
      defaultHeaders: { ...(apiKey === '' && { authorization: null }), ...lowerCased(headers) },
      maxRetries: 0,
      timeout: longestTimer,
      fetch: (input, init) => modelFetch(input, init, statusOf),
      // It would print what models say, when that cannot be read.
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
    // The SDK ends a stream that is aborted or cut as if it were whole.
    const type = response.headers.get('content-type') ?? '';
    if (!translator.isWhole && !type.includes('event-stream')) throw noStream(type);
    return translator.answer();
  }

  #errorOf(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    return withoutSecrets(modelErrorOf(error, this.#baseUrl), this.#secrets, '***');
  }
}

/** A name in other letters would be another header to the SDK. */
const lowerCased = (headers: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Other servers leave out most fields. */
function listedModel(entry: Partial<Anthropic.ModelInfo> & { id: string }): ListedModel {
  return {
    id: entry.id,
    name: entry.display_name ?? undefined,
    contextWindow: entry.max_input_tokens ?? undefined,
  };
}
