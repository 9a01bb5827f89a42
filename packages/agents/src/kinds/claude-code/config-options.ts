/** The settings of a Claude Code session that people can change: model, permission mode, thinking. */
import { thrownMessage } from '@liminal/protocol';
import type {
  EffortLevel,
  ModelInfo,
  Options,
  PermissionMode,
  Query,
} from '@anthropic-ai/claude-agent-sdk';
import type { ConfigOption, SessionNotice } from '@liminal/protocol';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { SettingsInForce } from './settings-in-force.ts';

/**
 * The values that people have chosen in Liminal. If the mode or the speed is empty, Claude Code's own settings decide.
 */
export type Config = Record<'model' | 'mode' | 'thinking', string> & { speed?: string };
export type ConfigId = keyof Config;

interface ConfigChoice {
  value: string;
  name: string;
  description?: string;
}

const modes = [
  {
    value: 'default',
    name: 'Ask first',
    description: 'Asks before edits and risky commands.',
  },
  {
    value: 'acceptEdits',
    name: 'Accept edits',
    description: 'Edits files without asking; still asks before risky commands.',
  },
  { value: 'plan', name: 'Plan', description: 'Reads and plans before it changes anything.' },
  {
    value: 'auto',
    name: 'Auto',
    description: 'A second model approves or rejects each step, and asks you when it is unsure.',
  },
  {
    value: 'dontAsk',
    name: 'Never ask',
    description: 'Rejects anything that your rules do not allow.',
  },
  {
    value: 'bypassPermissions',
    name: 'Allow everything',
    description: 'Edits files and runs commands without ever asking you.',
  },
] as const satisfies (ConfigChoice & { value: PermissionMode })[];

const efforts = [
  { value: 'low', name: 'Low' },
  { value: 'medium', name: 'Medium' },
  { value: 'high', name: 'High' },
  { value: 'xhigh', name: 'Extra high' },
  { value: 'max', name: 'Maximum' },
] as const satisfies (ConfigChoice & { value: EffortLevel })[];

/** Returns the setting's value for an effort that Claude Code reports; undefined for an unknown effort. */
export const effortChoice = (effort: string): string | undefined =>
  efforts.find(({ value }) => value === effort)?.value;

const plainThinking: ConfigChoice[] = [
  { value: 'default', name: 'Default' },
  { value: 'off', name: 'Off', description: 'Some models still think.' },
];

const speeds: ConfigChoice[] = [
  { value: 'standard', name: 'Standard' },
  {
    value: 'fast',
    name: 'Fast',
    description: 'Claude Code’s fast mode: the same model answers sooner, at a higher price.',
  },
];

/** Returns the setting's value for a fast mode state that Claude Code reports. */
export const speedOf = (state: string | undefined): string | undefined =>
  state === undefined ? undefined : state === 'off' ? 'standard' : 'fast';

const defaultConfig = { model: 'default', mode: '', thinking: 'default', speed: '' };

/** The models and modes that the running Claude Code offers. */
export interface Offer {
  models: readonly ModelInfo[];
  modes: readonly ConfigChoice[];
  /** Whether the account may use the fast mode. */
  hasFastMode?: boolean;
}

/** Reasons for a disabled fast mode that do not prevent a person from choosing it. */
const fastModeIsOff: ReadonlySet<string> = new Set([
  'preference',
  'sdk_opt_in_required',
  'pending',
]);

/** The offer while no Claude Code runs. It has no models, because they are unknown. */
export const nothingOffered: Offer = { models: [], modes };

export function offerOf(
  models: readonly ModelInfo[],
  { ruledOut }: SettingsInForce,
  mayBypassHere: boolean,
  fastModeProblem?: string,
): Offer {
  const isOffered = ({ value }: { value: PermissionMode }): boolean => {
    if (ruledOut.has(value)) return false;
    if (value === 'auto') return models.some(({ supportsAutoMode }) => supportsAutoMode === true);
    return value !== 'bypassPermissions' || mayBypassHere;
  };
  // Other reasons are problems of the account or the server. A person's choice does not solve these problems.
  const hasFastMode = fastModeProblem === undefined || fastModeIsOff.has(fastModeProblem);
  return { models, modes: modes.filter(isOffered), hasFastMode };
}

/**
 * Returns whether the mode that allows everything is possible: as root, Claude Code starts with it only in a declared
 * sandbox.
 */
export const mayBypass = (env: NodeJS.ProcessEnv): boolean =>
  process.getuid?.() !== 0 || env['IS_SANDBOX'] === '1';

/**
 * Returns the choice for the model with this full name. If several choices mean this model, prefers the present choice.
 */
export function modelOf(
  fullName: string | undefined,
  chosen: string,
  models: readonly ModelInfo[],
): string {
  const meant = models.filter(({ resolvedModel }) => resolvedModel === fullName);
  if (fullName === undefined || fullName === chosen) return chosen;
  if (meant.some(({ value }) => value === chosen)) return chosen;
  return meant[0]?.value ?? fullName;
}

const isConfigId = (id: string): id is ConfigId => Object.hasOwn(defaultConfig, id);

/**
 * Returns `base` with the given values, checked as far as is possible while no Claude Code runs. Throws ProviderError
 * `INVALID_OPTION`.
 */
export function readConfig(
  given: Record<string, string> = {},
  base: Config = defaultConfig,
): Config {
  const config = { ...base };
  for (const [id, value] of Object.entries(given)) {
    if (!isConfigId(id)) throw unknownOption(id);
    if (id !== 'model') findChoice(id, value, choices(id, nothingOffered, config.model));
    config[id] = value;
  }
  return config;
}

/**
 * Returns the start options of a process. If this machine no longer allows the mode, the process starts in the mode
 * `default`, which asks.
 */
export function startOptions({ model, mode, thinking }: Config, mayBypassHere: boolean): Options {
  const effort = efforts.find(({ value }) => value === thinking)?.value;
  const isPossible = mode !== 'bypassPermissions' || mayBypassHere;
  return {
    ...(mode !== '' && { permissionMode: isPossible ? findMode(mode) : 'default' }),
    ...(mayBypassHere && { allowDangerouslySkipPermissions: true }),
    ...(model !== 'default' && { model }),
    ...(effort !== undefined && { effort }),
  };
}

/** Returns the settings as shown to people. */
export function configOptions(config: Config, offer: Offer): ConfigOption[] {
  const option = (id: ConfigId, name: string, category: string): ConfigOption => ({
    id,
    name,
    category,
    currentValue: config[id] || (id === 'speed' ? 'standard' : ''),
    options: choices(id, offer, config.model, config[id]),
  });
  return [
    option('model', 'Model', 'model'),
    option('mode', 'Permissions', 'mode'),
    option('thinking', 'Thinking', 'thought_level'),
    ...(hasSpeeds(offer, config.model) ? [option('speed', 'Speed', 'speed')] : []),
  ];
}

/**
 * Changes a setting of the running process. Returns the value that is now in force: a mode may differ from the chosen
 * mode. Throws ProviderError `INVALID_OPTION`.
 */
export async function applyOption(
  query: Query,
  { model }: Config,
  offer: Offer,
  id: string,
  value: string,
): Promise<Partial<Config>> {
  if (!isConfigId(id)) throw unknownOption(id);
  findChoice(id, value, choices(id, offer, model));
  try {
    if (id === 'mode') {
      const answer = await query.setPermissionMode(findMode(value));
      return { mode: answer?.mode ?? value };
    }
    if (id === 'model') await query.setModel(value === 'default' ? undefined : value);
    else if (id === 'speed') await query.applyFlagSettings({ fastMode: value === 'fast' });
    else await applyThinking(query, value);
  } catch (error) {
    const why = thrownMessage(error);
    throw errors.INVALID_OPTION.notSet('Claude Code', id, value, why, { cause: error });
  }
  return { [id]: value };
}

/** Returns a notice if the process's mode differs from the chosen mode. */
export function modeNotice(chosen: string, mode: string): SessionNotice[] {
  if (chosen === '' || chosen === mode) return [];
  const nameOf = (value: string) => modes.find((one) => one.value === value)?.name ?? value;
  const text = `Claude Code does not allow “${nameOf(chosen)}” here. The mode is “${nameOf(mode)}”.`;
  return [{ level: 'warning', text }];
}

/** Applies settings after the start. A process that starts with thinking off could not turn thinking on again. */
export async function applyAfterStart(query: Query, { thinking, speed }: Config): Promise<void> {
  if (thinking === 'off') await applyThinking(query, thinking);
  if (speed) await query.applyFlagSettings({ fastMode: speed === 'fast' });
}

async function applyThinking(query: Query, value: string): Promise<void> {
  await query.setMaxThinkingTokens(value === 'off' ? 0 : null);
  const effort = efforts.find((level) => level.value === value)?.value;
  if (value !== 'off') await query.applyFlagSettings({ effortLevel: effort ?? null });
}

/** @param current - The present value, which is included even if Claude Code no longer offers it. */
function choices(
  id: ConfigId,
  { models, modes: offered }: Offer,
  model: string,
  current = '',
): ConfigChoice[] {
  if (id === 'speed') return speeds;
  if (id === 'mode') return modes.filter((one) => offered.includes(one) || one.value === current);
  if (id === 'model') {
    const named = models.map(({ value, displayName: name, description }) => ({
      value,
      name,
      description,
    }));
    const isNamed = named.some(({ value }) => value === model);
    return isNamed ? named : [...named, { value: model, name: model }];
  }
  const info = models.find(({ value }) => value === model);
  const levels =
    info === undefined ? efforts.map(({ value }) => value) : info.supportedEffortLevels;
  return [...plainThinking, ...efforts.filter(({ value }) => levels?.includes(value) === true)];
}

/** Returns whether the model has a fast mode. */
const hasSpeeds = ({ models, hasFastMode }: Offer, model: string): boolean =>
  hasFastMode === true && models.find(({ value }) => value === model)?.supportsFastMode === true;

function findMode(mode: string): PermissionMode {
  return findChoice('mode', mode, modes).value;
}

function findChoice<T extends ConfigChoice>(id: ConfigId, value: string, offered: readonly T[]): T {
  const choice = offered.find((candidate) => candidate.value === value);
  if (choice !== undefined) return choice;
  const values = offered.map((candidate) => candidate.value).join(', ');
  throw errors.INVALID_OPTION.value(id, value, values);
}

function unknownOption(id: string): ProviderError {
  const ids = Object.keys(defaultConfig).join(', ');
  return errors.INVALID_OPTION.option('Claude Code', id, ids);
}
