import type { ConfigOption } from '@liminal/protocol';
import { updateProblems } from '@liminal/testkit/acp-schema';
import { expect, test } from 'vitest';
import { commandsOf, modeOption, settingsOf } from './settings.ts';

const mode: ConfigOption = {
  id: 'permissions',
  name: 'Permissions',
  category: 'mode',
  currentValue: 'ask',
  options: [
    { value: 'ask', name: 'Ask', description: 'Before each edit.' },
    { value: 'all', name: 'Allow all' },
  ],
};
const model: ConfigOption = {
  id: 'model',
  name: 'Model',
  description: 'Who answers.',
  category: 'model',
  currentValue: 'b',
  options: [
    { value: 'a', name: 'A', group: 'Small' },
    { value: 'b', name: 'B', group: 'Large' },
    { value: 'c', name: 'C', group: 'Large' },
    { value: 'd', name: 'D' },
  ],
};

test('FR-039-01: options are sent with their choices, in groups if the choices have groups', () => {
  const { configOptions } = settingsOf([mode, model]);
  expect(updateProblems({ sessionUpdate: 'config_option_update', configOptions })).toEqual([]);
  expect(configOptions).toEqual([
    { ...mode, type: 'select' },
    {
      ...model,
      type: 'select',
      options: [
        { group: 'Small', name: 'Small', options: [{ value: 'a', name: 'A' }] },
        {
          group: 'Large',
          name: 'Large',
          options: [
            { value: 'b', name: 'B' },
            { value: 'c', name: 'C' },
          ],
        },
        { group: '', name: '', options: [{ value: 'd', name: 'D' }] },
      ],
    },
  ]);
});

test('FR-039-01: the mode is also sent in the old form, for clients without config options', () => {
  expect(settingsOf([model, mode]).modes).toEqual({
    currentModeId: 'ask',
    availableModes: [
      { id: 'ask', name: 'Ask', description: 'Before each edit.' },
      { id: 'all', name: 'Allow all' },
    ],
  });
  expect(settingsOf([model])).not.toHaveProperty('modes');
  const told = { sessionUpdate: 'current_mode_update', currentModeId: 'ask' };
  expect(updateProblems(told)).toEqual([]);
});

test('if no option has the category mode, an option with the id mode is used', () => {
  const { category: _, ...plain } = { ...mode, id: 'mode' };
  expect(modeOption([model, plain])).toBe(plain);
  expect(modeOption([plain, mode])).toBe(mode);
});

test('FR-039-01: commands are sent with a hint about their argument', () => {
  const availableCommands = commandsOf([
    { name: 'review', description: 'Looks at changes.', hint: 'what to look at' },
    { name: 'compact', description: 'Makes room.' },
  ]);
  const told = { sessionUpdate: 'available_commands_update', availableCommands };
  expect(updateProblems(told)).toEqual([]);
  expect(availableCommands).toEqual([
    { name: 'review', description: 'Looks at changes.', input: { hint: 'what to look at' } },
    { name: 'compact', description: 'Makes room.' },
  ]);
});
