/** The settings of a model session, except for the model itself. */
import type { ConfigOption } from '@liminal/protocol';
import { errors, ProviderError } from '../../contract/errors.ts';
import type { Mode } from './permissions.ts';

const modes = {
  ask: { name: 'Ask', description: 'Asks before it changes a file or runs a command' },
  edits: { name: 'Edit freely', description: 'Edits files of the project without asking' },
  all: { name: 'Never ask', description: 'Does everything without asking, including commands' },
} satisfies Record<Mode, { name: string; description: string }>;

const efforts = {
  default: { name: 'Default', description: 'The model’s own default' },
  none: { name: 'None', description: 'Answers at once' },
  low: { name: 'Low', description: 'Thinks a little' },
  medium: { name: 'Medium', description: 'Thinks as much as most tasks need' },
  high: { name: 'High', description: 'Thinks long, for hard tasks' },
};
export type Effort = keyof typeof efforts;

export const modeOption = (current: Mode): ConfigOption => ({
  id: 'mode',
  name: 'Permissions',
  category: 'mode',
  currentValue: current,
  options: optionChoices(modes),
});

export const effortOption = (current: Effort): ConfigOption => ({
  id: 'effort',
  name: 'Thinking',
  category: 'thought_level',
  currentValue: current,
  options: optionChoices(efforts),
});

/** Throws ProviderError `INVALID_OPTION`. */
export const readMode = (value: string): Mode => readValue('mode', modes, value);

/** Throws ProviderError `INVALID_OPTION`. */
export const readEffort = (value: string): Effort => readValue('effort', efforts, value);

export function unknownSetting(id: string): ProviderError {
  return errors.INVALID_OPTION.modelSetting(id);
}

function readValue<T extends object>(id: string, known: T, value: string): keyof T {
  if (Object.hasOwn(known, value)) return value as keyof T;
  throw errors.INVALID_OPTION.modelValue(id, value, Object.keys(known));
}

function optionChoices(known: Record<string, { name: string; description: string }>) {
  return Object.entries(known).map(([value, face]) => ({ value, ...face }));
}
