import type { ConfigOption } from '@liminal/protocol';
import { z } from 'zod';
import { errors } from '../../contract/errors.ts';
import { isRecord } from './translate/fields.ts';

/**
 * The request that changes a setting, and the settings that its success implies, because the agent's answer may lack
 * these settings.
 */
export interface SettingChange {
  method: string;
  params: Record<string, unknown>;
  known: Record<string, unknown>;
}

/** The most options, or values of an option, that an error lists. */
const maxListed = 10;

const kinds = ['modes', 'models', 'configOptions'] as const;

const ConfigOptions = z
  .array(z.looseObject({ id: z.string(), type: z.string().optional() }))
  .catch([]);

/** A session's modes, models and config options, as its agent reports them over time. */
export class AcpSettings {
  /** The newest report of each kind, unparsed. */
  #raw: Record<string, unknown> = {};

  get raw(): Record<string, unknown> {
    return this.#raw;
  }

  /** Reads the answer to `session/new`, `load`, `resume` or `set_*`. */
  applyAnswer(answer: unknown): void {
    if (!isRecord(answer)) return;
    const reported = kinds.filter((kind) => answer[kind] !== undefined && answer[kind] !== null);
    this.#raw = {
      ...this.#raw,
      ...Object.fromEntries(reported.map((kind) => [kind, answer[kind]])),
    };
  }

  /** Reads a session update; most do not concern settings. */
  applyUpdate(update: unknown): void {
    if (!isRecord(update)) return;
    if (update['sessionUpdate'] === 'config_option_update') this.applyAnswer(update);
    else if (update['sessionUpdate'] === 'current_mode_update') {
      this.applyAnswer(this.#with('modes', { currentModeId: update['currentModeId'] }));
    }
  }

  /** Returns the request that sets one of the `offered` options. Throws ProviderError `INVALID_OPTION`. */
  change(offered: readonly ConfigOption[], id: string, value: string): SettingChange {
    const option = findChoice(offered, id, value);
    const native = ConfigOptions.parse(this.#raw['configOptions'] ?? []).find(
      (one) => one.id === id,
    );
    if (native !== undefined) {
      const typed =
        native.type === 'boolean' ? { type: 'boolean', value: value === 'true' } : { value };
      return { method: 'session/set_config_option', params: { configId: id, ...typed }, known: {} };
    }
    if (option.category === 'model') {
      const known = this.#with('models', { currentModelId: value });
      return { method: 'session/set_model', params: { modelId: value }, known };
    }
    const known = this.#with('modes', { currentModeId: value });
    return { method: 'session/set_mode', params: { modeId: value }, known };
  }

  #with(kind: (typeof kinds)[number], change: Record<string, unknown>): Record<string, unknown> {
    const known = this.#raw[kind];
    return isRecord(known) ? { [kind]: { ...known, ...change } } : {};
  }
}

/**
 * Returns the option `id` if the option offers `value`; otherwise throws ProviderError `INVALID_OPTION`, with the
 * possible values.
 */
export function findChoice(
  offered: readonly ConfigOption[],
  id: string,
  value: string,
): ConfigOption {
  const option = offered.find((one) => one.id === id);
  if (option === undefined) {
    const ids = listed(offered.map((one) => one.id));
    throw errors.INVALID_OPTION.option('The agent', id, ids);
  }
  if (option.options.some((choice) => choice.value === value)) return option;
  const values = listed(option.options.map((choice) => choice.value));
  throw errors.INVALID_OPTION.value(id, value, values);
}

/** Returns the first names and the number of further names, because an agent may have hundreds of models. */
function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  const shown = names.slice(0, maxListed).join(', ');
  if (more > 0) return `${shown} and ${more} more`;
  return shown === '' ? 'none' : shown;
}
