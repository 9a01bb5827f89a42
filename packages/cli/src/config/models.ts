/** The parts of the configuration that describe bare models. */
import { z } from 'zod';

const price = z.number().nonnegative();

const wholeAddress = 'must be a complete URL, for example "http://127.0.0.1:11434/v1"';

/** Headers that the configuration cannot set, because they control how a request is sent. */
const ownHeaders = ['connection', 'content-length', 'content-type', 'host', 'transfer-encoding'];

const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header')
  .refine((name) => !ownHeaders.includes(name.toLowerCase()), 'is set by Liminal itself');
// Allow only the characters that every HTTP client can send.
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII');

const modelFields = {
  /** The provider whose API the server implements. */
  type: z.enum(['openai', 'anthropic']),
  /** Default: the provider's own address. */
  baseUrl: z.url({ protocol: /^https?$/, error: wholeAddress }).optional(),
  /** The environment variable that contains the key. Not set for a server that needs no key. */
  apiKeyEnv: z
    .string()
    // Accept only capitals: some providers' keys consist of letters, digits and "_", and an error would print a key
    // that was given instead of the variable's name.
    .regex(/^[A-Z_][A-Z0-9_]*$/, 'must be the name of a variable, in capitals, not a key')
    .optional(),
  /** Headers of every request. The headers that the API requires are added to these. */
  headers: z.record(headerName, headerValue).optional(),
  /** The model of new sessions; by default the first model in the server's list. */
  model: z.string().min(1).optional(),
  /** Prices in US dollars per million tokens of `model`. */
  prices: z
    .strictObject({
      input: price,
      output: price,
      cacheRead: price.optional(),
      cacheWrite: price.optional(),
      /** The price of a thousand web searches by the provider. */
      webSearch: price.optional(),
    })
    .optional(),
  /** The size of the context window, in tokens. */
  contextWindow: z.int().positive().optional(),
  /** Which API an OpenAI server uses. Needed only if Liminal should not detect the API. */
  api: z.enum(['responses', 'chat']).optional(),
  /** Whether the server's models may search the web with the server's own tool. */
  webSearch: z.boolean().optional(),
  /** The server's display name. */
  name: z.string().min(1).optional(),
};

/** A model server as the configuration file describes it. */
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
    'a name consists of lower-case letters, digits, ".", "_" and "-", and begins with a letter or digit',
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
    'the entries "openai" and "anthropic" must have the type of the same name',
  );

export const ToolsEntry = z.strictObject({
  /** Whether models may read web pages. */
  fetch: z.boolean().optional(),
  /** Whether models may run scripts that call the tools; by default yes. */
  scripts: z.boolean().optional(),
  /** The most requests to a model in one turn. */
  maxRounds: z.int().positive().optional(),
  /** Whether `./liminal tools` runs long tool calls. Possible only if servers share a Redis. */
  workers: z.boolean().optional(),
});
export type ToolsEntry = z.infer<typeof ToolsEntry>;

function unknownFields(names: readonly string[]): string {
  const advice = names.includes('apiKey')
    ? ' Keys do not belong here: put the key into a variable, and name the variable in "apiKeyEnv".'
    : '';
  return `has no field "${names.join('", "')}"; the fields are: ${Object.keys(modelFields).join(', ')}.${advice}`;
}

/** A model server, with its key. */
export interface ModelConfig extends Omit<ModelEntry, 'apiKeyEnv' | 'name'> {
  /** The agent type. */
  cliType: string;
  /** The server's display name. */
  title: string;
  apiKey?: string | undefined;
  /** A sentence that says why the server cannot be used, and what to do. */
  problem?: string | undefined;
}

const providers = {
  openai: { title: 'OpenAI models', key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL' },
  anthropic: { title: 'Anthropic models', key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL' },
};

/** Returns the two providers, configured by environment and file, and then the other servers in the file. */
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

/** Returns the names of the variables that contain keys. All commands of bare models run without these variables. */
export function keyVariables(
  entries: Record<string, ModelEntry>,
  env: NodeJS.ProcessEnv,
): string[] {
  const named = Object.values(entries).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const headers = Object.values(entries).flatMap((entry) => Object.values(entry.headers ?? {}));
  // A header may contain the value of a variable.
  const used = Object.entries(env).flatMap(([name, value = '']) =>
    value.length >= shortestKey && headers.some((header) => header.includes(value)) ? [name] : [],
  );
  return [...Object.values(providers).map(({ key }) => key), ...named, ...used];
}

/** The shortest key, in characters; shorter values occur in many headers by chance. */
const shortestKey = 8;

function modelConfig(
  cliType: string,
  { apiKeyEnv, name, ...entry }: ModelEntry,
  variable: (name: string) => string | undefined,
): ModelConfig {
  const provider = providers[entry.type];
  const baseUrl = entry.baseUrl ?? variable(provider.url);
  // A key is sent only to the server for which it was configured.
  const keyName = apiKeyEnv ?? (entry.baseUrl === undefined ? provider.key : undefined);
  const apiKey = keyName === undefined ? undefined : variable(keyName)?.trim();
  const title = name ?? (cliType === entry.type ? provider.title : cliType);
  const problem =
    (modelFields.baseUrl.safeParse(baseUrl).success
      ? undefined
      : `${provider.url} ${wholeAddress}.`) ??
    (keyName === undefined ? undefined : keyProblem(keyName, apiKey));
  return { ...entry, cliType, title, baseUrl, apiKey, problem };
}

function keyProblem(name: string, key = ''): string | undefined {
  if (key === '') return `Set ${name} before Liminal is started.`;
  // A header can carry only printable ASCII characters without spaces. A value with other characters may contain the
  // “…” that was copied from an example.
  const isSendable = /^[\x21-\x7e]+$/.test(key);
  return isSendable
    ? undefined
    : `${name} has characters that a key cannot have: set it to the key itself.`;
}
