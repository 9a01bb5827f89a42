import type { ConfigOption, Usage } from '@liminal/protocol';
import { thrownMessage } from '@liminal/protocol';
import { errors } from '../../contract/errors.ts';
import type { ListedModel, ModelClient } from './model-client.ts';
import { ModelError } from './model-error.ts';

/** Prices in US dollars per million tokens. */
export interface ModelPrices {
  input: number;
  output: number;
  /** The price of input that was read from the server's cache; default: `input`. */
  cacheRead?: number | undefined;
  /** The price of input that is written to the server's cache; default: `input`. */
  cacheWrite?: number | undefined;
  /** The price of a thousand web searches by the maker; default: none. */
  webSearch?: number | undefined;
}

/** A configured model server. */
export interface ModelServer {
  /** The name of the agent type: `openai`, `anthropic`, or a name from the configuration. */
  name: string;
  /** The name for people. */
  title: string;
  client: ModelClient;
  /** The model for new sessions; default: the first listed model. */
  model?: string | undefined;
  /** Prices of `model`. */
  prices?: ModelPrices | undefined;
  /** The context window of `model`, in tokens. */
  contextWindow?: number | undefined;
  /** Whether messages to the models may include audio, if that is known in advance; default: no. */
  takesAudio?: boolean | undefined;
  /** Why the server cannot be used, and what the user can do. The models of such a server are not offered. */
  problem?: string | undefined;
}

/** A model and its server. */
export interface ChosenModel {
  server: ModelServer;
  model: string;
}

/** The time for which a server's list of models is valid, ms. */
const listMs = 5 * 60_000;
/** The time in which a server must return its list of models, ms. */
const listLimitMs = 10_000;

/** All models of all servers: a session can continue with any of these models. */
export class ModelCatalog {
  readonly #servers: ReadonlyMap<string, ModelServer>;
  readonly #lists = new Map<string, { models: readonly ListedModel[]; at: number }>();
  /** Models that have rejected tools, in the form of `optionValueOf`. */
  readonly #withoutTools = new Set<string>();
  readonly #asking = new Map<string, Promise<string | undefined>>();

  constructor(servers: readonly ModelServer[]) {
    this.#servers = new Map(servers.map((server) => [server.name, server]));
  }

  server(name: string): ModelServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`There is no model server ${name}.`);
    return server;
  }

  /**
   * Throws ProviderError `INVALID_OPTION`. The server's list need not have the model.
   * @param value - `<server>:<model>`, or a model of `own`.
   */
  choose(value: string, own: string): ChosenModel {
    const { name, model } = readChoice(value, own);
    const server = this.#servers.get(name);
    if (server !== undefined && server.problem === undefined && model !== '') {
      return { server, model };
    }
    const usable = this.#usable.map((one) => one.name).join(', ');
    const example = server === undefined ? value.trim() : 'MODEL';
    const why =
      server?.problem ??
      `Name a model as SERVER:MODEL, as in ${own}:${example}, with one of these servers: ${usable}.`;
    throw errors.INVALID_OPTION.model(value, why);
  }

  /**
   * Returns the model that a session chose earlier; `value` has the form that `choose` accepts. If the server has lost
   * its key or is no longer configured, the returned server has a `problem`: the session can be read, and can continue
   * with another model.
   */
  recall(value: string, own: string): ChosenModel {
    const { name, model } = readChoice(value, own);
    return { server: this.#servers.get(name) ?? goneServer(name), model };
  }

  /** Returns the model for a new session; undefined if no model is known. */
  first(name: string): ChosenModel | undefined {
    const server = this.server(name);
    const model = server.model ?? this.#models(server)[0]?.id;
    return model === undefined ? undefined : { server, model };
  }

  /** Returns a model's context window in tokens; undefined if it is not known. */
  windowOf({ server, model }: ChosenModel): number | undefined {
    const own = server.model === model ? server.contextWindow : undefined;
    return own ?? this.#listed({ server, model })?.contextWindow;
  }

  /** Returns whether the model accepts tools; true unless its server reports otherwise. */
  callsTools(chosen: ChosenModel): boolean {
    if (this.#withoutTools.has(optionValueOf(chosen))) return false;
    return this.#listed(chosen)?.callsTools ?? true;
  }

  /** Records that the model has rejected tools: further requests to the model have no tools. */
  callsNoTools(chosen: ChosenModel): void {
    this.#withoutTools.add(optionValueOf(chosen));
  }

  /** Returns the config option for the model, with the models from all lists that were fetched so far. */
  option(chosen: ChosenModel | undefined, own: string): ConfigOption {
    const current = chosen && optionValueOf(chosen);
    const options = this.#usable.flatMap((server) =>
      this.#models(server).map(({ id, name }) => ({
        value: optionValueOf({ server, model: id }),
        name: name ?? id,
        group: server.title,
      })),
    );
    const isListed = current === undefined || options.some(({ value }) => value === current);
    const unlisted = chosen && {
      value: optionValueOf(chosen),
      name: chosen.model,
      group: chosen.server.title,
    };
    return {
      id: 'model',
      name: 'Model',
      category: 'model',
      currentValue: current ?? '',
      options: isListed || unlisted === undefined ? options : [unlisted, ...options],
      takesOther: this.#prefixes(own),
    };
  }

  /**
   * Fetches the lists that are missing or too old. If fetching the list of the server `name` failed, resolves with the
   * reason.
   */
  async refresh(name: string, now = Date.now()): Promise<string | undefined> {
    const old = this.#usable.filter((server) => {
      const at = this.#lists.get(server.name)?.at;
      return at === undefined || now - at > listMs;
    });
    const asked = old.map(async (server) => [server.name, await this.#ask(server, now)] as const);
    return new Map(await Promise.all(asked)).get(name);
  }

  get #usable(): ModelServer[] {
    return [...this.#servers.values()].filter(({ problem }) => problem === undefined);
  }

  /** Returns the prefixes that name a server in an option's value; the prefix of `own` is first. */
  #prefixes(own: string): string[] {
    const others = this.#usable.map(({ name }) => name).filter((name) => name !== own);
    return [own, ...others].map((name) => `${name}:`);
  }

  #listed({ server, model }: ChosenModel): ListedModel | undefined {
    return this.#lists.get(server.name)?.models.find(({ id }) => id === model);
  }

  /** Returns the server's configured model, followed by the listed models. */
  #models(server: ModelServer): ListedModel[] {
    const listed = this.#lists.get(server.name)?.models ?? [];
    const { model } = server;
    if (model === undefined) return [...listed];
    const own = listed.find(({ id }) => id === model) ?? { id: model };
    return [own, ...listed.filter(({ id }) => id !== model)];
  }

  /** Fetches a server's list of models; parallel calls share one request. */
  #ask(server: ModelServer, now: number): Promise<string | undefined> {
    const { name, client, title } = server;
    const asking =
      this.#asking.get(name) ??
      client
        .listModels(AbortSignal.timeout(listLimitMs))
        .then(
          (models): undefined => void this.#lists.set(name, { models, at: now }),
          (error: unknown) =>
            server.model === undefined
              ? `The models of “${title}” could not be listed. ${thrownMessage(error)}`
              : undefined,
        )
        .finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }
}

function readChoice(value: string, own: string): { name: string; model: string } {
  const [name = '', ...rest] = value.trim().split(':');
  return rest.length === 0 ? { name: own, model: name } : { name, model: rest.join(':').trim() };
}

/** Stands for a server that is no longer configured. */
function goneServer(name: string): ModelServer {
  const problem = `The model server “${name}” is no longer configured.`;
  const refuse = async (): Promise<never> => {
    throw new ModelError('MODEL_UNAVAILABLE', problem);
  };
  const client = { providerId: name, listModels: refuse, answer: refuse };
  return { name, title: name, client, problem };
}

function optionValueOf({ server, model }: ChosenModel): string {
  return `${server.name}:${model}`;
}

/**
 * Returns the cost in US dollars of a request's tokens and web searches; undefined if the model has no price.
 * @param searches - The number of web searches by the maker.
 */
export function costOf(
  { server, model }: ChosenModel,
  usage: Usage,
  searches = 0,
): number | undefined {
  const { prices } = server;
  if (prices === undefined || server.model !== model) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input, webSearch = 0 } = prices;
  const { cacheReadInputTokens: read = 0, cacheCreationInputTokens: written = 0 } = usage;
  const plain = Math.max(usage.inputTokens - read - written, 0);
  const sum = plain * input + read * cacheRead + written * cacheWrite + usage.outputTokens * output;
  return sum / 1_000_000 + (searches * webSearch) / 1_000;
}
