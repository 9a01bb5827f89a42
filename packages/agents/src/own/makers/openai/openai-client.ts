import { asError } from '@liminal/protocol';
import { OpenAI } from 'openai';
import { isRecord } from '../../../base/parse-line.ts';
import type { AnswerWriter } from '../../loop/answer-writer.ts';
import type { Complaint } from '../../loop/complaints.ts';
import { callIdsOf } from '../../loop/conversation.ts';
import type {
  ListedModel,
  ModelAnswer,
  ModelClient,
  ModelRequest,
} from '../../loop/model-client.ts';
import { ModelError } from '../../loop/model-error.ts';
import { ownRefusal } from '../../loop/fetch-without-timeout.ts';
import { secretsOf, withoutSecrets } from '../../loop/hide-secrets.ts';
import { PageError } from '../../loop/model-fetch.ts';
import { type Refusal, Refusals } from '../../loop/refusals.ts';
import { refusalOfProxy, throughProxy } from '../../proxy/index.ts';
import { chunksOf } from './answer-stream.ts';
import { CallIds } from './call-ids.ts';
import { chatRequest } from './chat/request.ts';
import { ChatTranslator } from './chat/translate.ts';
import { brokeOff, errorOfComplaint, lacksEndpoint, readComplaint } from './errors.ts';
import { requestJson } from './json.ts';
import { readModels, readOwnModels } from './listed-models.ts';
import { RefusedFields } from './refused-fields.ts';
import { responsesRequest } from './responses/request.ts';
import { ResponsesTranslator } from './responses/translate.ts';
import { OpenAiSdk } from './sdk.ts';

type OpenAiApi = 'responses' | 'chat';

export interface OpenAiClientOptions {
  /** The server's address; most addresses end in `/v1`. Default: OpenAI's own. */
  baseUrl?: string | undefined;
  /** Optional, because a local server needs no key; without the option no key is sent. */
  apiKey?: string | undefined;
  /** Headers that are sent with every request, for example for a gateway. */
  headers?: Record<string, string> | undefined;
  /** The API to use. Default: Responses, or Chat Completions if the server does not have Responses. */
  api?: OpenAiApi | undefined;
  /**
   * Whether models may search the web with the maker's own tool. Only the Responses API has a tool for searching the
   * web.
   */
  webSearch?: boolean | undefined;
}

const openAi = 'https://api.openai.com/v1';
/** The time limit for requesting a list of models, in ms. */
const listTimeoutMs = 15_000;

const noSearch =
  'The model’s server lacks the Responses API, which “webSearch” needs. Remove “webSearch” from its entry in the configuration.';

const jsonType = { 'content-type': 'application/json' };

const interfaces = {
  responses: {
    path: '/responses',
    request: responsesRequest,
    translator: ResponsesTranslator,
  },
  chat: {
    path: '/chat/completions',
    request: chatRequest,
    translator: ChatTranslator,
  },
};

/** A client for OpenAI, and for every server with one of OpenAI's APIs: Ollama, vLLM, llama.cpp, gateways. */
export class OpenAiClient implements ModelClient {
  readonly providerId = 'openai';
  readonly #sdk: OpenAiSdk;
  readonly #baseUrl: string;
  readonly #secrets: readonly string[];
  readonly #webSearch: boolean;
  readonly #fields = new RefusedFields();
  readonly #refusals = new Refusals();
  /** The API that the server has; undefined until the server has answered. */
  #api: OpenAiApi | undefined;

  constructor({
    baseUrl = openAi,
    apiKey,
    api,
    headers,
    webSearch = false,
  }: OpenAiClientOptions = {}) {
    this.#baseUrl = baseUrl;
    this.#secrets = secretsOf(apiKey, headers);
    this.#api = api;
    this.#webSearch = webSearch;
    this.#sdk = new OpenAiSdk(baseUrl, apiKey === '' ? undefined : apiKey, headers);
  }

  async listModels(signal: AbortSignal): Promise<ListedModel[]> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(listTimeoutMs)]);
    try {
      const response = await this.#sdk.get('/models', { signal: limit }).asResponse();
      const list: unknown = await response.json();
      return this.#baseUrl === openAi ? readOwnModels(list) : readModels(list);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#errorOf(error);
    }
  }

  async answer(
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    try {
      return await this.#ask(this.#api ?? 'responses', request, writer, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#errorOf(error);
    }
  }

  async #ask(
    api: OpenAiApi,
    request: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { request: bodyOf } = interfaces[api];
    const { model } = request;
    try {
      return await this.#refusals.ask(request, {
        bodyOf: (put) => this.#fields.without(model, bodyOf(put, { webSearch: this.#webSearch })),
        send: async (body) => this.#send(api, body, request, writer, signal),
        refusalIn: (error) =>
          writer.hasWritten || this.#isOfOther(api, error) ? undefined : refusalIn(error),
        noteRefusal: (body, complaint) => this.#fields.noteRefusal(model, body, complaint),
      });
    } catch (error) {
      if (!this.#isOfOther(api, error)) throw error;
      if (this.#webSearch) throw new ModelError('MODEL_ERROR', noSearch, { cause: error });
      return this.#ask('chat', request, writer, signal);
    }
  }

  async #send(
    api: OpenAiApi,
    body: object,
    { callIds, conversation }: ModelRequest,
    writer: AnswerWriter,
    signal: AbortSignal,
  ): Promise<ModelAnswer> {
    const { path, translator: Translator } = interfaces[api];
    const translator = new Translator(writer, new CallIds(callIds ?? callIdsOf(conversation)));
    const sent = { body: requestJson(body), headers: jsonType, signal, stream: true };
    const response = await this.#sdk.post(path, sent).asResponse();
    let isMarked = false;
    for await (const { chunks, isEnd } of chunksOf(response)) {
      signal.throwIfAborted();
      if (chunks.length > 0) this.#api ??= api;
      for (const chunk of chunks) translator.read(chunk);
      isMarked = isEnd;
    }
    return translator.end(isMarked);
  }

  /** Returns whether the error means that the server has only the other API. */
  #isOfOther(api: OpenAiApi, error: unknown): boolean {
    const complaint = complaintIn(error);
    // Some servers answer every unknown address with their web page.
    const isLacking =
      pageErrorIn(error) !== undefined || (complaint !== undefined && lacksEndpoint(complaint));
    return this.#api === undefined && api !== 'chat' && isLacking;
  }

  #errorOf(error: unknown): ModelError {
    const known = ownRefusal(error) ?? this.#errorOfThrown(error);
    return withoutSecrets(known, this.#secrets, '…');
  }

  #errorOfThrown(error: unknown): ModelError {
    const page = pageErrorIn(error);
    if (page !== undefined) return page;
    const complaint = complaintIn(error);
    if (complaint !== undefined) {
      const headers = error instanceof OpenAI.APIError ? (error.headers as Headers) : undefined;
      return errorOfComplaint(complaint, { headers, cause: error });
    }
    if (isOfConnection(error)) return this.#unreachable(error);
    const code = networkCode(error);
    if (code !== undefined || asError(error).message === 'terminated') return brokeOff(error);
    const message = `The answer of the model’s server cannot be read: ${asError(error).message}`;
    return new ModelError('MODEL_ERROR', message, { cause: error });
  }

  #unreachable(error: unknown): ModelError {
    const code = networkCode(error);
    const why = refusalOfProxy(error) ?? code;
    const reason = why === undefined ? '' : ` (${why})`;
    const { origin } = URL.parse(this.#baseUrl) ?? { origin: 'the address that is configured' };
    const through = throughProxy(this.#baseUrl);
    const advice = through === '' ? 'that it runs there' : 'that both run, and the variable';
    return new ModelError(
      'CONNECTION_FAILED',
      `The model’s server could not be reached at ${origin}${through}${reason}. Check ${advice}.`,
      { isPassing: code !== 'ENOTFOUND', cause: error },
    );
  }
}

/** Returns the server's refusal; undefined if the server had begun its answer, or could not be reached. */
function refusalIn(error: unknown): Refusal | undefined {
  const complaint = complaintIn(error);
  if (complaint === undefined) return undefined;
  return { complaint, isUnknown: errorOfComplaint(complaint).code === 'MODEL_ERROR' };
}

/** Returns the content of the server's error response; undefined if the error has no response. */
function complaintIn(error: unknown): Complaint | undefined {
  // The error came within a stream; the response itself had status 200.
  if (error instanceof ModelError && isRecord(error.details)) {
    const { status, body } = error.details;
    return readComplaint(body, typeof status === 'number' ? status : undefined);
  }
  if (!(error instanceof OpenAI.APIError) || error.status === undefined) return undefined;
  const status = error.status as number;
  const body: unknown = error.error;
  // For a plain text, the SDK begins the message with the status.
  return readComplaint(
    body ?? error.message.replace(/^\d+ (status code \(no body\))?/, ''),
    status,
  );
}

/**
 * Returns the error for a web page, from the causes of the SDK's error: the SDK treats every error of `fetch` as a
 * failed connection.
 */
const pageErrorIn = (error: unknown): PageError | undefined => {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].find((one) => one instanceof PageError);
};

/** Returns whether the connection failed; also true if our own time limit for a list of models was exceeded. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof OpenAI.APIConnectionError ||
  error instanceof OpenAI.APIUserAbortError ||
  (error instanceof DOMException && error.name === 'TimeoutError');

/** Returns the code of the system for a failed connection. */
function networkCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
