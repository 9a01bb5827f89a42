import type { ConfigOption } from '@liminal/protocol';

export type OptionChoice = ConfigOption['options'][number];

export interface ChoiceGroup {
  /** The group's name; undefined for choices without a group. */
  value: string | undefined;
  items: readonly OptionChoice[];
}

/** The options worth showing: those with choices, and those whose value can be typed. */
export function shownOptions(options: readonly ConfigOption[]): ConfigOption[] {
  return options
    .filter((option) => option.options.length > 0 || option.takesOther !== undefined)
    .map((option) => ({ ...option, options: withCurrent(option) }));
}

/** The choices, with the current value even if the agent does not offer it. */
function withCurrent({ options, currentValue }: ConfigOption): OptionChoice[] {
  if (currentValue === '' || options.some(({ value }) => value === currentValue)) return options;
  return [...options, { value: currentValue, name: currentValue }];
}

/** Groups consecutive choices of the same group; keeps the order. */
export function groupChoices(choices: readonly OptionChoice[]): ChoiceGroup[] {
  const groups: { value: string | undefined; items: OptionChoice[] }[] = [];
  for (const choice of choices) {
    const last = groups.at(-1);
    if (last !== undefined && last.value === choice.group) last.items.push(choice);
    else groups.push({ value: choice.group, items: [choice] });
  }
  return groups;
}

/** Whether a choice contains all searched words, in its name, its group or its value. */
export function isFound({ name, group = '', value }: OptionChoice, sought: string): boolean {
  const text = `${name} ${group} ${value}`.toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Whether there are so many choices that a search is needed, or a value can be typed. */
export function needsSearch({ options, takesOther }: ConfigOption): boolean {
  return options.length > 12 || takesOther !== undefined;
}

/** The option's choices, and the typed value if it is not among them. */
export function withTyped({ options, takesOther }: ConfigOption, text: string): OptionChoice[] {
  const typed = text.trim();
  if (takesOther === undefined || typed === '') return options;
  const hasPrefix = takesOther.some((prefix) => typed.startsWith(prefix));
  const value = hasPrefix ? typed : `${takesOther[0] ?? ''}${typed}`;
  const isKnown = options.some((choice) => choice.value === value || choice.name === typed);
  if (isKnown) return options;
  return [...options, { value, name: `Use “${typed}”`, group: 'Not listed' }];
}

/** Whether an option's values are clear without its name. */
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
 * Codex's collaboration mode (plan or not), which Shift+Tab changes in its terminal; its approvals have the category
 * `mode`.
 */
const codexMode = 'collaboration_mode';

/** The option that Shift+Tab changes, with the choices that Shift+Tab reaches; undefined if the session offers none. */
export function cycledMode(options: readonly ConfigOption[]): ConfigOption | undefined {
  const all = options.map((option) => ({
    ...option,
    options: option.options.filter(({ value }) => !askingNothing.has(value)),
  }));
  const can = all.filter((option) => nextChoice(option) !== undefined);
  return can.find(({ id }) => id === codexMode) ?? can.find(({ category }) => category === 'mode');
}

/** The choice after the current one, or the first after the last; undefined if there is no other choice. */
export function nextChoice({ options, currentValue }: ConfigOption): OptionChoice | undefined {
  const at = options.findIndex(({ value }) => value === currentValue);
  const next = options[(at + 1) % options.length];
  return next?.value === currentValue ? undefined : next;
}
