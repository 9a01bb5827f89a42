import { z } from 'zod';
import type { ConfigOption } from '@liminal/protocol';
import { readFields } from './fields.ts';

type ConfigChoice = ConfigOption['options'][number];

const settings = {
  configOptions: z.array(z.unknown()),
  modes: z.record(z.string(), z.unknown()),
  /** `models` is not part of the stable protocol. */
  models: z.record(z.string(), z.unknown()),
  currentModeId: z.string(),
};

const option = {
  id: z.string().min(1),
  name: z.string(),
  description: z.string(),
  category: z.string(),
  type: z.string(),
  currentValue: z.union([z.string(), z.boolean()]),
  options: z.array(z.unknown()),
};

const choice = {
  value: z.string(),
  name: z.string(),
  description: z.string(),
  /** Only a group of choices has `options`. */
  options: z.array(z.unknown()),
  /** Only a mode has an `id`. */
  id: z.string(),
  /** Only a model has a `modelId`. */
  modelId: z.string(),
};

const modes = { currentModeId: z.string(), availableModes: z.array(z.unknown()) };
const models = { currentModelId: z.string(), availableModels: z.array(z.unknown()) };

/** The settings that an agent offers: config options, and the modes and models of older agents. */
export class Settings {
  #options: ConfigOption[] = [];
  #mode: ConfigOption | undefined;
  #model: ConfigOption | undefined;

  /** The options that are shown to people. */
  get options(): ConfigOption[] {
    const mode = this.#options.some((other) => other.category === 'mode') ? undefined : this.#mode;
    const own = [mode, this.#model].filter((one) => one !== undefined);
    const isLacking = (one: ConfigOption): boolean => this.#optionLike(one) === undefined;
    return [...this.#options, ...own.filter(isLacking)];
  }

  /**
   * The chosen model, if the agent reports it. The category `model` may also have options for, for example, the model's
   * provider.
   */
  get model(): string | undefined {
    const ofCategory = this.#options.filter(({ category }) => category === 'model');
    const option =
      this.#options.find(({ id }) => id === 'model') ??
      (this.#model && this.#optionLike(this.#model)) ??
      (ofCategory.length === 1 && this.#model === undefined
        ? ofCategory[0]
        : ofCategory.find(({ name }) => name.toLowerCase() === 'model'));
    return (option ?? this.#model)?.currentValue;
  }

  /**
   * Returns the config option that is the same setting as `own`: agents may report modes and models both as an option
   * and in their own fields.
   */
  #optionLike(own: ConfigOption): ConfigOption | undefined {
    const isOwn = (other: ConfigOption): boolean =>
      other.category === own.category && hasChoice(other, own.currentValue);
    return (
      this.#options.find(({ id }) => id === own.id) ??
      this.#options.find((other) => isOwn(other)) ??
      this.#options.find((other) => own.options.length > 0 && valuesOf(other) === valuesOf(own))
    );
  }

  /**
   * Reads an answer to `session/new`, `load`, `resume` or `set_*`, or an update; returns whether the answer or update
   * has settings.
   */
  read(raw: unknown): boolean {
    const { fields } = readFields(raw, settings);
    if (fields.configOptions !== undefined) this.#readOptions(fields.configOptions);
    if (fields.modes !== undefined) this.#mode = readModes(fields.modes) ?? this.#mode;
    if (fields.models !== undefined) this.#model = readModels(fields.models) ?? this.#model;
    if (fields.currentModeId !== undefined) this.#setMode(fields.currentModeId);
    return Object.keys(fields).length > 0;
  }

  /**
   * Sets the current mode. Some agents report a new mode with `currentModeId` even if they have a config option for the
   * mode.
   */
  #setMode(value: string): void {
    const mode =
      (this.#mode && this.#optionLike(this.#mode)) ??
      this.options.find(({ id, category }) => (category ?? id) === 'mode');
    if (mode === undefined) return;
    this.#options = this.#options.map((other) => withValue(other, mode.id, value));
    this.#mode = this.#mode && { ...this.#mode, currentValue: value };
  }

  #readOptions(values: readonly unknown[]): void {
    this.#options = values.flatMap((value) => {
      const { id, name, description, category, type, currentValue, ...rest } = readFields(
        value,
        option,
      ).fields;
      if (id === undefined || currentValue === undefined) return [];
      const isBoolean = type === 'boolean' || typeof currentValue === 'boolean';
      const texts = {
        ...(description !== undefined && { description }),
        ...(category !== undefined && { category }),
      };
      const options = isBoolean ? [...onAndOff] : readChoices(rest.options);
      return [{ id, name: name ?? id, ...texts, currentValue: String(currentValue), options }];
    });
  }
}

const onAndOff = [
  { value: 'true', name: 'On' },
  { value: 'false', name: 'Off' },
] as const;

function readModes(raw: unknown): ConfigOption | undefined {
  const { currentModeId: currentValue, availableModes } = readFields(raw, modes).fields;
  if (currentValue === undefined) return undefined;
  const options = readChoices(availableModes);
  return { id: 'mode', name: 'Mode', category: 'mode', currentValue, options };
}

function readModels(raw: unknown): ConfigOption | undefined {
  const { currentModelId: currentValue, availableModels } = readFields(raw, models).fields;
  if (currentValue === undefined) return undefined;
  const options = readChoices(availableModels);
  return { id: 'model', name: 'Model', category: 'model', currentValue, options };
}

/** Reads choices; groups of choices become one list. */
function readChoices(values: readonly unknown[] = [], group?: string): ConfigChoice[] {
  return values.flatMap((item) => {
    const { options, name, description, ...ids } = readFields(item, choice).fields;
    if (options !== undefined) return readChoices(options, name);
    const value = ids.value ?? ids.id ?? ids.modelId;
    if (value === undefined) return [];
    const texts = {
      ...(description !== undefined && { description }),
      ...(group !== undefined && { group }),
    };
    return [{ value, name: name ?? value, ...texts }];
  });
}

const hasChoice = ({ options }: ConfigOption, value: string): boolean =>
  options.some((choice) => choice.value === value);

/** Returns an option's values, sorted, as text for comparison. */
const valuesOf = ({ options }: ConfigOption): string =>
  JSON.stringify(options.map(({ value }) => value).toSorted());

const withValue = (option: ConfigOption, id: string, value: string): ConfigOption =>
  option.id === id ? { ...option, currentValue: value } : option;
