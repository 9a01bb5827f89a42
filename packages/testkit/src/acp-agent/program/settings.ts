/** A session's modes and config options, as the client has set them. */
import { RpcError } from './call.ts';

export type Settings = Record<string, unknown>;

const invalidParams = -32602;

/** Replies to `session/set_mode`, and stores the mode. */
export function setMode(settings: Settings, modeId: unknown): unknown {
  const modes = asObject(settings['modes']);
  const known = list(modes['availableModes']).some(({ id }) => id === modeId);
  if (!known) throw new RpcError(invalidParams, `There is no mode ${String(modeId)}.`);
  settings['modes'] = { ...modes, currentModeId: modeId };
  return {};
}

/** Replies to `session/set_config_option`, and stores the value. */
export function setConfigOption(settings: Settings, configId: unknown, value: unknown): unknown {
  const options = list(settings['configOptions']);
  if (!options.some(({ id }) => id === configId))
    throw new RpcError(invalidParams, `There is no config option ${String(configId)}.`);
  const configOptions = options.map((option) =>
    option['id'] === configId ? { ...option, currentValue: value } : option,
  );
  settings['configOptions'] = configOptions;
  return { configOptions };
}

const list = (value: unknown): Settings[] => (Array.isArray(value) ? value.map(asObject) : []);

const asObject = (value: unknown): Settings =>
  typeof value === 'object' && value !== null ? { ...value } : {};
