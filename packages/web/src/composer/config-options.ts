import type { ConfigOption } from '@liminal/protocol';

export type Choice = ConfigOption['options'][number];

export interface ChoiceGroup {
  /** Its name; undefined for choices without a group. */
  value: string | undefined;
  items: readonly Choice[];
}

/** The options worth showing: those with choices, and those whose value can be typed. */
export function shownOptions(options: readonly ConfigOption[]): ConfigOption[] {
  return options
    .filter((option) => option.options.length > 0 || option.takesOther !== undefined)
    .map((option) => ({ ...option, options: withCurrent(option) }));
}

/** The present value is a choice too, even if the agent does not offer it. */
function withCurrent({ options, currentValue }: ConfigOption): Choice[] {
  if (currentValue === '' || options.some(({ value }) => value === currentValue)) return options;
  return [...options, { value: currentValue, name: currentValue }];
}

/** Choices in their order; consecutive choices of one group together. */
export function groupChoices(choices: readonly Choice[]): ChoiceGroup[] {
  const groups: { value: string | undefined; items: Choice[] }[] = [];
  for (const choice of choices) {
    const last = groups.at(-1);
    if (last !== undefined && last.value === choice.group) last.items.push(choice);
    else groups.push({ value: choice.group, items: [choice] });
  }
  return groups;
}

/** Whether a choice contains all searched words, in its name, its group or its value. */
export function isFound({ name, group = '', value }: Choice, sought: string): boolean {
  const text = `${name} ${group} ${value}`.toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Whether there are too many choices to look through, or a value can be typed. */
export function needsSearch({ options, takesOther }: ConfigOption): boolean {
  return options.length > 12 || takesOther !== undefined;
}

/** The choices for what is typed: those of the option, and the typed value itself, if it is another. */
export function withTyped({ options, takesOther }: ConfigOption, text: string): Choice[] {
  const typed = text.trim();
  if (takesOther === undefined || typed === '') return options;
  const isWhole = takesOther.some((prefix) => typed.startsWith(prefix));
  const value = isWhole ? typed : `${takesOther[0] ?? ''}${typed}`;
  const isKnown = options.some((choice) => choice.value === value || choice.name === typed);
  if (isKnown) return options;
  return [...options, { value, name: `Use “${typed}”`, group: 'Not listed' }];
}

/** Whether an option's values are clear without its name. */
export function isTelling({ category }: ConfigOption): boolean {
  return category === 'model' || category === 'mode' || category === 'thought_level';
}

/** Modes that ask nothing of a person any more. One key does not lead there: they are chosen in the list. */
const askingNothing: ReadonlySet<string> = new Set([
  'bypassPermissions',
  'dontAsk',
  'full-access',
  'all',
  'yolo',
]);

/** Codex' way of working (plan or not), which its terminal's Shift+Tab changes; its approvals have the category `mode`. */
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

/** The choice after the present one, the first after the last; undefined without another choice. */
export function nextChoice({ options, currentValue }: ConfigOption): Choice | undefined {
  const at = options.findIndex(({ value }) => value === currentValue);
  const next = options[(at + 1) % options.length];
  return next?.value === currentValue ? undefined : next;
}
