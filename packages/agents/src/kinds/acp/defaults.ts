import type { ConfigOption } from '@liminal/protocol';
import { describeError } from './errors.ts';

/**
 * Settings for new sessions: a mode, and other settings by id. The setting for the mode may have a different id in each
 * agent.
 */
export interface Defaults {
  mode?: string;
  config?: Record<string, string>;
}

/** Returns the default values, by the ids of the agent's config options. */
export function wantedByDefault(
  { mode, config = {} }: Defaults,
  offered: readonly ConfigOption[],
): Record<string, string> {
  const modeId = offered.find(({ category }) => category === 'mode')?.id ?? 'mode';
  return { ...(mode !== undefined && { [modeId]: mode }), ...config };
}

/** Returns the notice that a default could not be set, and why. */
export const defaultProblem = (error: unknown): string =>
  `A default in the configuration was left out. ${describeError(error)}`;

/** Returns the notice that an earlier setting of the session could not be set again, and why. */
export const settingProblem = (error: unknown): string =>
  `A setting of this session was left out. ${describeError(error)}`;
