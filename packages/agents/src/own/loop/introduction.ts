import type { AgentIntroduction } from '../../contract/provider.ts';
import type { ModelServer } from './catalog.ts';
import type { ListedModel } from './model-client.ts';
import { ModelError } from './model-error.ts';

const interfaces: Record<string, string> = {
  openai: 'OpenAI’s interface',
  anthropic: 'Anthropic’s interface',
};
/** The most models whose names are shown. */
const named = 3;

/**
 * Requests a server's list of models. The request succeeds only with a correct address and key, but needs no working
 * model. Rejects with the reason if the request fails.
 */
export async function introduce(server: ModelServer, limitMs: number): Promise<AgentIntroduction> {
  const { client, model } = server;
  const protocol = interfaces[client.providerId] ?? client.providerId;
  const signal = AbortSignal.timeout(limitMs);
  try {
    const models = await client.listModels(signal);
    const abilities = models.length === 0 ? [] : [`answer as ${modelNames(models)}`];
    return { protocol, abilities, signIn: [], problems: problemsOf(models, model) };
  } catch (error) {
    if (signal.aborted) throw new Error(`It did not answer within ${limitMs / 1_000} s.`);
    const isListless = error instanceof ModelError && listless.includes(error.code);
    if (!isListless) throw error;
    if (model === undefined) throw new Error(`${error.message} ${wouldDo}`, { cause: error });
    return { protocol, abilities: [], signIn: [], problems: ['It does not list its models.'] };
  }
}

const wouldDo = 'If it lists no models, set the "model" of its configuration.';

/** Error codes after which a server may still have models, but no list of models. */
const listless = ['MODEL_NOT_FOUND', 'MODEL_ERROR'];

function modelNames(models: readonly ListedModel[]): string {
  const names = models.slice(0, named).map(({ id }) => id);
  const more = models.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function problemsOf(models: readonly ListedModel[], model: string | undefined): string[] {
  if (model === undefined) {
    const nothing = 'It lists no model. Load one there, or set the "model" of its configuration.';
    return models.length === 0 ? [nothing] : [];
  }
  const isListed = models.some(({ id }) => id === model);
  return isListed ? [] : [`It does not list “${model}”, which the configuration names.`];
}
