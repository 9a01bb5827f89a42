import type { ConfigOption } from '@liminal/protocol';
import { expect, it } from 'vitest';
import {
  cycledMode,
  groupChoices,
  isFound,
  isSelfExplanatory,
  needsSearch,
  nextChoice,
  shownOptions,
  withTyped,
} from './config-options.ts';

function option(values: string[], rest: Partial<ConfigOption> = {}): ConfigOption {
  const options = values.map((value) => ({ value, name: value.toUpperCase() }));
  return { id: 'o', name: 'Option', currentValue: values[0] ?? '', options, ...rest };
}

it('an option without choices is not shown, and for an agent without options no option is shown', () => {
  expect(shownOptions([option([]), option(['a'])]).map(({ options }) => options.length)).toEqual([
    1,
  ]);
  expect(shownOptions([])).toEqual([]);
});

it('the current value is shown even if the agent does not offer it', () => {
  const [shown] = shownOptions([option(['a', 'b'], { currentValue: 'own' })]);
  expect(shown?.options.at(-1)).toEqual({ value: 'own', name: 'own' });
});

it('choices are listed in order under the names of their groups', () => {
  const choices = [
    { value: 'a', name: 'A' },
    { value: 'b', name: 'B', group: 'Fast' },
    { value: 'c', name: 'C', group: 'Fast' },
    { value: 'd', name: 'D', group: 'Slow' },
  ];
  const groups = groupChoices(choices);
  expect(groups.map(({ value, items }) => [value, items.map((one) => one.value)])).toEqual([
    [undefined, ['a']],
    ['Fast', ['b', 'c']],
    ['Slow', ['d']],
  ]);
});

it('an option with many choices has a search field; an option with few choices has none', () => {
  const many = Array.from({ length: 40 }, (_, index) => `m${index}`);
  expect([needsSearch(option(many)), needsSearch(option(['a', 'b']))]).toEqual([true, false]);
});

it('an option that accepts other values is shown even without choices, and its list offers the typed text', () => {
  const open = option([], { takesOther: ['s:', 't:'] });
  expect(shownOptions([open])).toEqual([open]);
  expect(needsSearch(open)).toBe(true);
  expect(withTyped(open, ' x ')).toEqual([{ value: 's:x', name: 'Use “x”', group: 'Not listed' }]);
  expect(withTyped(open, 't:x')).toMatchObject([{ value: 't:x' }]);
  expect(withTyped(open, 'x:8b')).toMatchObject([{ value: 's:x:8b' }]);
  for (const typed of ['', 's:a', 'a', 'S:A']) {
    expect(withTyped(option(['s:a'], { takesOther: ['s:', 't:'] }), typed)).toHaveLength(1);
  }
  expect(withTyped(option(['a']), 'x')).toHaveLength(1);
});

it('a choice is found by words of its name and group, in any order', () => {
  const choice = { value: 'x/large', name: 'Large 3', group: 'Vendor' };
  expect(['3 vendor', 'LARGE', 'x/', ''].map((sought) => isFound(choice, sought))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(isFound(choice, 'large 4')).toBe(false);
});

it('an option that only one agent has is shown with its name, and a model without', () => {
  expect(isSelfExplanatory(option(['a'], { category: 'model' }))).toBe(true);
  expect(isSelfExplanatory(option(['a'], { category: 'web_search' }))).toBe(false);
  expect(isSelfExplanatory(option(['a']))).toBe(false);
});

it('Shift+Tab changes Codex’s plan mode, or, without one, the option with the category `mode`, and skips modes in which the agent never asks', () => {
  const approvals = option(['read-only', 'auto', 'full-access'], { id: 'm', category: 'mode' });
  const plan = option(['default', 'plan'], { id: 'collaboration_mode' });
  expect(cycledMode([approvals, plan])?.id).toBe('collaboration_mode');
  const values = cycledMode([option(['a', 'b']), approvals])?.options.map(({ value }) => value);
  expect(values).toEqual(['read-only', 'auto']);
  expect(cycledMode([option(['a', 'b'])])).toBeUndefined();
  expect(cycledMode([option(['ask', 'yolo'], { category: 'mode' })])).toBeUndefined();
});

it('the first choice comes after the last choice, and after a current choice that is not listed', () => {
  const next = (currentValue: string) =>
    nextChoice(option(['a', 'b', 'c'], { currentValue }))?.value;
  expect(['a', 'b', 'c', 'other'].map(next)).toEqual(['b', 'c', 'a', 'a']);
  expect(nextChoice(option(['a']))).toBeUndefined();
  expect(nextChoice(option([]))).toBeUndefined();
});
