import type { ConfigOption } from '@liminal/protocol';

export type OptionChoice = ConfigOption['options'][number];

export interface ChoiceGroup {
  /** The group's name; undefined for the group of choices that have none. */
  value: string | undefined;
  items: readonly OptionChoice[];
}

/** Returns the options worth showing: options with choices, and options whose value can be typed. */
export function shownOptions(options: readonly ConfigOption[]): ConfigOption[] {
  return options
    .filter((option) => option.options.length > 0 || option.takesOther !== undefined)
    .map((option) => ({ ...option, options: withCurrent(option) }));
}

/** Returns the choices and the current value, even if the agent does not offer the current value. */
function withCurrent({ options, currentValue }: ConfigOption): OptionChoice[] {
  if (currentValue === '' || options.some(({ value }) => value === currentValue)) return options;
  return [...options, { value: currentValue, name: currentValue }];
}

/** Groups consecutive choices of the same group, and keeps their order. */
export function groupChoices(choices: readonly OptionChoice[]): ChoiceGroup[] {
  const groups: { value: string | undefined; items: OptionChoice[] }[] = [];
  for (const choice of choices) {
    const last = groups.at(-1);
    if (last !== undefined && last.value === choice.group) last.items.push(choice);
    else groups.push({ value: choice.group, items: [choice] });
  }
  return groups;
}

/** Whether a choice contains all searched words in its name, its group or its value. */
export function isFound({ name, group = '', value }: OptionChoice, sought: string): boolean {
  const text = `${name} ${group} ${value}`.toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Whether the option needs a search field: it has many choices, or its value can be typed. */
export function needsSearch({ options, takesOther }: ConfigOption): boolean {
  return options.length > 12 || takesOther !== undefined;
}

/** Returns the option's choices, and the typed value if it is not one of them. */
export function withTyped({ options, takesOther }: ConfigOption, text: string): OptionChoice[] {
  const typed = text.trim();
  if (takesOther === undefined || typed === '') return options;
  const hasPrefix = takesOther.some((prefix) => typed.startsWith(prefix));
  const value = hasPrefix ? typed : `${takesOther[0] ?? ''}${typed}`;
  const isKnown = options.some((choice) => choice.value === value || choice.name === typed);
  if (isKnown) return options;
  return [...options, { value, name: `Use “${typed}”`, group: 'Not listed' }];
}

/** Whether an option's values are clear without the option's name. */
export function isSelfExplanatory({ category }: ConfigOption): boolean {
  return category === 'model' || category === 'mode' || category === 'thought_level';
}

/**
 * Modes in which the agent never asks for permission. Shift+Tab skips these modes; a person must choose them in the
 * list.
 */
const askingNothing: ReadonlySet<string> = new Set([
  'bypassPermissions',
  'dontAsk',
  'full-access',
  'all',
  'yolo',
]);

/**
 * The option for Codex's collaboration mode (plan or not). In Codex's terminal, Shift+Tab changes this option; Codex's
 * approvals have the category `mode`.
 */
const codexMode = 'collaboration_mode';

/**
 * Returns the option that Shift+Tab changes, with the choices that Shift+Tab reaches; undefined if the session offers
 * no such option.
 */
export function cycledMode(options: readonly ConfigOption[]): ConfigOption | undefined {
  const all = options.map((option) => ({
    ...option,
    options: option.options.filter(({ value }) => !askingNothing.has(value)),
  }));
  const can = all.filter((option) => nextChoice(option) !== undefined);
  return can.find(({ id }) => id === codexMode) ?? can.find(({ category }) => category === 'mode');
}

/**
 * Returns the choice after the current choice; after the last choice, the first. Undefined if there is no other choice.
 */
export function nextChoice({ options, currentValue }: ConfigOption): OptionChoice | undefined {
  const at = options.findIndex(({ value }) => value === currentValue);
  const next = options[(at + 1) % options.length];
  return next?.value === currentValue ? undefined : next;
}
