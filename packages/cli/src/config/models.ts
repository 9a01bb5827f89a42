/** The parts of the configuration that are about bare models. */
import { z } from 'zod';

const price = z.number().nonnegative();

const wholeAddress = 'must be a whole address, as "http://127.0.0.1:11434/v1"';

/** Headers that say how a request is sent. */
const ownHeaders = ['connection', 'content-length', 'content-type', 'host', 'transfer-encoding'];

const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')
  .refine((name) => !ownHeaders.includes(name.toLowerCase()), 'is set by Liminal itself');
// Only these characters can be sent everywhere.
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII');

const modelFields = {
  /** Whose interface it speaks. */
  type: z.enum(['openai', 'anthropic']),
  /** Default: the maker's own. */
  baseUrl: z.url({ protocol: /^https?$/, error: wholeAddress }).optional(),
  /** The variable of the environment that has the key; none for a server that needs no key. */
  apiKeyEnv: z
    .string()
    // Some makers' keys are of letters, digits and "_" as well, and a name may be printed.
    .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of a variable, in capitals, not a key')
    .optional(),
  /** Headers of every request, besides the interface's own. */
  headers: z.record(headerName, headerValue).optional(),
  /** The model of new sessions; default the first that the server lists. */
  model: z.string().min(1).optional(),
  /** US dollars for a million tokens, of that model. */
  prices: z
    .strictObject({
      input: price,
      output: price,
      cacheRead: price.optional(),
      cacheWrite: price.optional(),
      /** For a thousand searches of the web by the maker. */
      webSearch: price.optional(),
    })
    .optional(),
  /** Tokens that it takes. */
  contextWindow: z.int().positive().optional(),
  /** What an OpenAI server has, if it should not be asked. */
  api: z.enum(['responses', 'chat']).optional(),
  /** Whether its models may search the web by the server's own tool. */
  webSearch: z.boolean().optional(),
  /** Its name for people. */
  name: z.string().min(1).optional(),
};

/** A server of models. */
export const ModelEntry = z
  .strictObject(modelFields, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? unknownFields(keys ?? []) : undefined,
  })
  .refine(({ api, webSearch = false }) => api !== 'chat' || !webSearch, {
    path: ['webSearch'],
    error: 'only the Responses API searches the web: remove "webSearch", or "api": "chat"',
  });
export type ModelEntry = z.infer<typeof ModelEntry>;

const ModelName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'a name has small letters, digits, ".", "_" and "-", and begins with one of the first two',
  )
  .refine(
    (name) => !['claude-code', 'codex', 'demo'].includes(name),
    'this is an agent’s name: choose another one',
  );

export const ModelEntries = z
  .record(ModelName, ModelEntry)
  .refine(
    (entries) =>
      (['openai', 'anthropic'] as const).every((name) => (entries[name]?.type ?? name) === name),
    '"openai" and "anthropic" are of the type of their name',
  );

export const ToolsEntry = z.strictObject({
  /** Whether models may read pages of the web. */
  fetch: z.boolean().optional(),
  /** Whether models may run scripts that call the tools; default yes. */
  scripts: z.boolean().optional(),
  /** How often a model is asked in one turn, at most. */
  maxRounds: z.int().positive().optional(),
  /** Whether `./liminal tools` runs what takes long; only where servers share a Redis. */
  workers: z.boolean().optional(),
});
export type ToolsEntry = z.infer<typeof ToolsEntry>;

function unknownFields(names: readonly string[]): string {
  const advice = names.includes('apiKey')
    ? ' A key is not kept here: set a variable to it, and name that one in "apiKeyEnv".'
    : '';
  return `has no "${names.join('", "')}"; there are: ${Object.keys(modelFields).join(', ')}.${advice}`;
}

/** A model server, with its key. */
export interface ModelConfig extends Omit<ModelEntry, 'apiKeyEnv' | 'name'> {
  /** The agent type. */
  cliType: string;
  /** For people. */
  title: string;
  apiKey?: string | undefined;
  /** Why it cannot be used, and what to do. */
  problem?: string | undefined;
}

const makers = {
  openai: { title: 'OpenAI models', key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL' },
  anthropic: { title: 'Anthropic models', key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL' },
};

/** The two makers, as the environment and the file say, and then the file's other servers. */
export function modelConfigs(
  entries: Record<string, ModelEntry>,
  variable: (name: string) => string | undefined,
): ModelConfig[] {
  const { openai, anthropic, ...others } = entries;
  const all = {
    openai: openai ?? { type: 'openai' },
    anthropic: anthropic ?? { type: 'anthropic' },
    ...others,
  } as const;
  return Object.entries(all).map(([cliType, entry]) => modelConfig(cliType, entry, variable));
}

/** The variables that hold keys: no command of an agent of ours sees them. */
export function keyVariables(
  entries: Record<string, ModelEntry>,
  env: NodeJS.ProcessEnv,
): string[] {
  const named = Object.values(entries).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const headers = Object.values(entries).flatMap((entry) => Object.values(entry.headers ?? {}));
  // A header may have been made with a variable.
  const used = Object.entries(env).flatMap(([name, value = '']) =>
    value.length >= shortestKey && headers.some((header) => header.includes(value)) ? [name] : [],
  );
  return [...Object.values(makers).map(({ key }) => key), ...named, ...used];
}

/** Characters of a key; shorter values are in many headers by chance. */
const shortestKey = 8;

function modelConfig(
  cliType: string,
  { apiKeyEnv, name, ...entry }: ModelEntry,
  variable: (name: string) => string | undefined,
): ModelConfig {
  const maker = makers[entry.type];
  const baseUrl = entry.baseUrl ?? variable(maker.url);
  // A key is sent only to the server that it is for.
  const keyName = apiKeyEnv ?? (entry.baseUrl === undefined ? maker.key : undefined);
  const apiKey = keyName === undefined ? undefined : variable(keyName)?.trim();
  const title = name ?? (cliType === entry.type ? maker.title : cliType);
  const problem =
    (modelFields.baseUrl.safeParse(baseUrl).success
      ? undefined
      : `${maker.url} ${wholeAddress}.`) ??
    (keyName === undefined ? undefined : keyProblem(keyName, apiKey));
  return { ...entry, cliType, title, baseUrl, apiKey, problem };
}

function keyProblem(name: string, key = ''): string | undefined {
  if (key === '') return `Set ${name} before Liminal is started.`;
  // Nothing else can be sent; it may be the “…” of an example.
  const isSendable = /^[\x21-\x7e]+$/.test(key);
  return isSendable
    ? undefined
    : `${name} has characters that no key has: set it to the key itself.`;
}
