/** The settings of a Claude Code session that people can change: model, permission mode, thinking. */
import type {
  EffortLevel,
  ModelInfo,
  Options,
  PermissionMode,
  Query,
} from '@anthropic-ai/claude-agent-sdk';
import type { ConfigOption } from '@liminal/protocol';
import { ProviderError } from '../errors.ts';

export type ConfigId = 'model' | 'mode' | 'thinking';

export type Config = Record<ConfigId, string>;

interface Choice {
  value: string;
  name: string;
  description?: string;
}

const modes = [
  {
    value: 'default',
    name: 'Ask first',
    description: 'Asks before it edits or runs what is not harmless.',
  },
  { value: 'acceptEdits', name: 'Accept edits', description: 'Edits files without asking.' },
  { value: 'plan', name: 'Plan', description: 'Reads and plans before it changes anything.' },
  {
    value: 'dontAsk',
    name: 'Never ask',
    description: 'What would need to be asked for is refused.',
  },
] as const satisfies (Choice & { value: PermissionMode })[];

const efforts = [
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'xhigh', name: 'Extra high' },
  { value: 'max', name: 'Maximum' },
] as const satisfies (Choice & { value: EffortLevel })[];

const plainThinking: Choice[] = [
  { value: 'default', name: 'As the model prefers' },
  { value: 'off', name: 'Off', description: 'Some models think all the same.' },
];

const defaultConfig: Config = { model: 'default', mode: 'default', thinking: 'default' };

const isConfigId = (id: string): id is ConfigId => id in defaultConfig;

/** `base` with what is given. Checks what can be checked before a process runs. Throws ProviderError `INVALID_OPTION`. */
export function readConfig(given: Record<string, string> = {}, base = defaultConfig): Config {
  const config = { ...base };
  for (const [id, value] of Object.entries(given)) {
    if (!isConfigId(id)) throw unknownOption(id);
    if (id !== 'model') findChoice(id, value, choices(id, [], config.model));
    config[id] = value;
  }
  return config;
}

/** What a process is started with. */
export function startOptions({ model, mode, thinking }: Config): Options {
  const effort = efforts.find(({ value }) => value === thinking)?.value;
  return {
    permissionMode: findMode(mode),
    ...(model !== 'default' && { model }),
    ...(effort !== undefined && { effort }),
  };
}

/** As a person sees them. `models` are those that the running Claude Code offers. */
export function configOptions(config: Config, models: readonly ModelInfo[]): ConfigOption[] {
  const option = (id: ConfigId, name: string, category: string): ConfigOption => ({
    id,
    name,
    category,
    currentValue: config[id],
    options: choices(id, models, config.model),
  });
  return [
    option('model', 'Model', 'model'),
    option('mode', 'Permissions', 'mode'),
    option('thinking', 'Thinking', 'thought_level'),
  ];
}

/** Changes a setting of the running process. Throws ProviderError `INVALID_OPTION`. */
export async function applyOption(
  query: Query,
  config: Config,
  models: readonly ModelInfo[],
  id: string,
  value: string,
): Promise<Config> {
  if (!isConfigId(id)) throw unknownOption(id);
  findChoice(id, value, choices(id, models, config.model));
  if (id === 'model') await query.setModel(value === 'default' ? undefined : value);
  else if (id === 'mode') await query.setPermissionMode(findMode(value));
  else await applyThinking(query, value);
  return { ...config, [id]: value };
}

/** What a process cannot be started with: thinking that is off from the start could not be turned on again. */
export async function applyAfterStart(query: Query, { thinking }: Config): Promise<void> {
  if (thinking === 'off') await applyThinking(query, thinking);
}

async function applyThinking(query: Query, value: string): Promise<void> {
  await query.setMaxThinkingTokens(value === 'off' ? 0 : null);
  const effort = efforts.find((level) => level.value === value)?.value;
  if (value !== 'off') await query.applyFlagSettings({ effortLevel: effort ?? null });
}

function choices(id: ConfigId, models: readonly ModelInfo[], model: string): Choice[] {
  if (id === 'mode') return [...modes];
  if (id === 'model') {
    const offered = models.map(({ value, displayName: name, description }) => ({
      value,
      name,
      description,
    }));
    const isOffered = offered.some(({ value }) => value === model);
    return isOffered ? offered : [...offered, { value: model, name: model }];
  }
  const info = models.find(({ value }) => value === model);
  const levels =
    info === undefined ? efforts.map(({ value }) => value) : info.supportedEffortLevels;
  return [...plainThinking, ...efforts.filter(({ value }) => levels?.includes(value) === true)];
}

function findMode(mode: string): PermissionMode {
  return findChoice('mode', mode, modes).value;
}

function findChoice<T extends Choice>(id: ConfigId, value: string, offered: readonly T[]): T {
  const choice = offered.find((candidate) => candidate.value === value);
  if (choice !== undefined) return choice;
  const values = offered.map((candidate) => candidate.value).join(', ');
  throw new ProviderError(
    'INVALID_OPTION',
    `“${value}” is no value of “${id}”. There are: ${values}.`,
  );
}

function unknownOption(id: string): ProviderError {
  const ids = Object.keys(defaultConfig).join(', ');
  return new ProviderError(
    'INVALID_OPTION',
    `Claude Code has no option “${id}”. There are: ${ids}.`,
  );
}
