import { expect, test } from 'vitest';
import { effortOption, modeOption, readEffort, readMode, unknownSetting } from './settings.ts';

test('each mode and effort is a choice with a name and a description, and can be read', () => {
  const read = { mode: readMode, effort: readEffort };
  for (const option of [modeOption('edits'), effortOption('low')]) {
    expect(option.options.length).toBeGreaterThan(2);
    for (const { value, name, description } of option.options) {
      expect(read[option.id as 'mode' | 'effort'](value)).toBe(value);
      expect(name).toMatch(/^[A-Z]/);
      expect(description).toMatch(/^[A-Z]/);
    }
  }
  expect(modeOption('edits')).toMatchObject({
    id: 'mode',
    name: 'Permissions',
    category: 'mode',
    currentValue: 'edits',
  });
  expect(effortOption('low')).toMatchObject({
    id: 'effort',
    name: 'Thinking',
    category: 'thought_level',
    currentValue: 'low',
  });
});

test('an unknown setting or value is rejected with an error that lists the known ones', () => {
  expect(() => readMode('toString')).toThrow('Unknown mode “toString”. Known: ask, edits, all.');
  expect(() => readEffort('max')).toThrow(
    'Unknown effort “max”. Known: default, none, low, medium, high.',
  );
  expect(() => readMode('no')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  expect(unknownSetting('pace')).toMatchObject({
    code: 'INVALID_OPTION',
    message: 'Unknown setting “pace”. Known: model, mode, effort.',
  });
});
