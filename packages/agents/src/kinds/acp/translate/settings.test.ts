import { expect, test } from 'vitest';
import { startTranslator, timestamp } from './testing/recorded-translator.ts';

const modes = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask', description: 'Asks first.' },
    { id: 'code', name: 'Code', description: null },
  ],
};
const modeOption = {
  id: 'mode',
  name: 'Mode',
  category: 'mode',
  currentValue: 'ask',
  options: [
    { value: 'ask', name: 'Ask', description: 'Asks first.' },
    { value: 'code', name: 'Code' },
  ],
};
const models = {
  currentModelId: 'big',
  availableModels: [
    { modelId: 'big', name: 'Big', description: 'The big one.' },
    { modelId: 'small', name: 'Small' },
  ],
};
const effort = {
  id: 'effort',
  name: 'Effort',
  category: 'thought_level',
  type: 'select',
  currentValue: 'low',
  options: [
    { value: 'low', name: 'Low' },
    { value: 'high', name: 'High', description: 'Thinks long.' },
  ],
};

/** Returns the options after these answers and updates. */
function optionsAfter(...steps: unknown[]) {
  const { translator, updates, send } = startTranslator();
  for (const step of steps) {
    const isUpdate = typeof step === 'object' && step !== null && 'sessionUpdate' in step;
    if (isUpdate) send(step);
    else translator.settings(step);
  }
  return updates.at(-1)?.configOptions;
}

test('the modes that an agent offers become an option', () => {
  expect(optionsAfter({ sessionId: 's', modes })).toEqual([modeOption]);
});

test('the models of the draft protocol become an option', () => {
  const [model] = optionsAfter({ models }) ?? [];
  expect(model).toEqual({
    id: 'model',
    name: 'Model',
    category: 'model',
    currentValue: 'big',
    options: [
      { value: 'big', name: 'Big', description: 'The big one.' },
      { value: 'small', name: 'Small' },
    ],
  });
});

test('config options take precedence over modes and models of the same category', () => {
  const own = { ...effort, id: 'preset', category: 'mode' };
  const ids = optionsAfter({ modes, models, configOptions: [own, effort] })?.map(({ id }) => id);
  expect(ids).toEqual(['preset', 'effort', 'model']);
});

test('modes and models that are also config options are shown once, whatever their names', () => {
  const level = { ...effort, id: 'thinking', category: 'thought_level' };
  const levels = {
    currentModeId: 'low',
    availableModes: [
      { id: 'high', name: 'High' },
      { id: 'low', name: 'Low' },
    ],
  };
  const changed = { sessionUpdate: 'current_mode_update', currentModeId: 'high' };
  const steps = [{ modes: levels, configOptions: [level] }];
  expect(optionsAfter(...steps)?.map(({ id }) => id)).toEqual(['thinking']);
  expect(optionsAfter(...steps, changed)).toMatchObject([{ id: 'thinking', currentValue: 'high' }]);
  const picker = {
    ...effort,
    id: 'picker',
    category: null,
    currentValue: 'big',
    options: [
      { value: 'big', name: 'Big' },
      { value: 'small', name: 'Small' },
    ],
  };
  expect(optionsAfter({ models, configOptions: [picker] })?.map(({ id }) => id)).toEqual([
    'picker',
  ]);
});

test('modes whose choices match no config option become an option of their own', () => {
  const ids = optionsAfter({ modes, configOptions: [effort] })?.map(({ id }) => id);
  expect(ids).toEqual(['effort', 'mode']);
});

test('config options are shown unchanged, groups of choices as one list with group names, and switches as two choices', () => {
  const grouped = {
    ...effort,
    id: 'grouped',
    category: null,
    options: [{ group: 'g', name: 'Group', options: effort.options }],
  };
  const flag = { id: 'web', name: 'Web search', type: 'boolean', currentValue: true };
  expect(optionsAfter({ configOptions: [effort, grouped, flag] })).toEqual([
    {
      id: 'effort',
      name: 'Effort',
      category: 'thought_level',
      currentValue: 'low',
      options: effort.options,
    },
    {
      id: 'grouped',
      name: 'Effort',
      currentValue: 'low',
      options: effort.options.map((choice) => ({ ...choice, group: 'Group' })),
    },
    {
      id: 'web',
      name: 'Web search',
      currentValue: 'true',
      options: [
        { value: 'true', name: 'On' },
        { value: 'false', name: 'Off' },
      ],
    },
  ]);
});

test('updates change the current values of options', () => {
  const changed = { sessionUpdate: 'current_mode_update', currentModeId: 'code' };
  expect(optionsAfter({ modes }, changed)).toEqual([{ ...modeOption, currentValue: 'code' }]);
  const options = { sessionUpdate: 'config_option_update', configOptions: [effort] };
  expect(optionsAfter({ modes }, options)?.map(({ id }) => id)).toEqual(['effort', 'mode']);
  const own = { ...effort, id: 'preset', category: 'mode', currentValue: 'ask' };
  const [preset] = optionsAfter({ configOptions: [own] }, changed) ?? [];
  expect(preset).toMatchObject({ id: 'preset', currentValue: 'code' });
});

test('an answer without settings gives no update', () => {
  expect(optionsAfter({}, null, { modes: null, configOptions: null }, 'odd')).toBeUndefined();
});

test('options and choices that cannot be read are left out', () => {
  const odd = [{ id: 'x' }, { currentValue: 'y' }, 7, { ...effort, options: [{}, 7] }];
  expect(optionsAfter({ configOptions: odd })).toMatchObject([{ id: 'effort', options: [] }]);
});

test('the chosen model is the model of new turns', () => {
  const { translator, drafts } = startTranslator();
  translator.begin('one', 'Hi.', timestamp);
  translator.settings({ models });
  translator.begin('two', 'Hi.', timestamp);
  const configOptions = [{ ...effort, id: 'model', category: 'model', currentValue: 'other' }];
  translator.settings({ configOptions });
  translator.begin('three', 'Hi.', timestamp);
  const starts = drafts.flatMap(({ payload }) =>
    payload.type === 'response_start' ? [[payload.modelId, payload.providerId]] : [],
  );
  expect(starts).toEqual([
    ['unknown', 'scripted'],
    ['big', 'scripted'],
    ['other', 'scripted'],
  ]);
});

test.each([
  ['the option “model”', { id: 'model', name: 'Which', category: 'model' }, undefined],
  ['the option named “Model”', { id: 'which', name: 'Model', category: 'model' }, undefined],
  [
    'the option with the models that the agent lists',
    { id: 'which', name: 'Which', category: 'model' },
    models,
  ],
  ['the listed models, if no option is the model', undefined, models],
])(
  'a turn’s model is found even if an option for the provider comes first in the category: %s',
  (_name, own, listed) => {
    const { translator, drafts } = startTranslator();
    const provider = {
      id: 'provider',
      name: 'Provider',
      category: 'model',
      currentValue: 'anthropic',
      options: [{ value: 'anthropic', name: 'Anthropic' }],
    };
    const options = models.availableModels.map(({ modelId, name }) => ({ value: modelId, name }));
    const configOptions = [provider, ...(own ? [{ ...own, currentValue: 'big', options }] : [])];
    translator.settings({ configOptions, ...(listed && { models: listed }) });
    translator.begin('turn', 'Hi.', timestamp);
    expect(drafts[0]?.payload).toMatchObject({ type: 'response_start', modelId: 'big' });
  },
);

test('if the models are listed separately, the option that offers these models has the current model', () => {
  const { translator, drafts } = startTranslator();
  const options = models.availableModels.map(({ modelId, name }) => ({ value: modelId, name }));
  const which = { id: 'which', name: 'Which', category: 'model', currentValue: 'small', options };
  const provider = { ...effort, id: 'provider', name: 'Provider', category: 'model' };
  translator.settings({ configOptions: [provider, which], models });
  translator.begin('turn', 'Hi.', timestamp);
  expect(drafts[0]?.payload).toMatchObject({ modelId: 'small' });
});

test('if several options could be the model and nothing distinguishes them, the model is unknown', () => {
  const { translator, drafts } = startTranslator();
  const option = (id: string) => ({ ...effort, id, name: id, category: 'model' });
  translator.settings({ configOptions: [option('provider'), option('which')] });
  translator.begin('turn', 'Hi.', timestamp);
  expect(drafts[0]?.payload).toMatchObject({ modelId: 'unknown' });
});

test('a command is listed with its hint, and without the slash before its name', () => {
  const { updates, send } = startTranslator();
  const availableCommands = [
    { name: 'review', description: 'Review it', input: { hint: 'what' } },
    { name: '/init', description: 'Begin', input: null },
    { description: 'Nameless' },
  ];
  send({ sessionUpdate: 'available_commands_update', availableCommands });
  expect(updates).toEqual([
    {
      commands: [
        { name: 'review', description: 'Review it', hint: 'what' },
        { name: 'init', description: 'Begin' },
      ],
    },
  ]);
});

test('a session’s title is reported if the agent sends a title', () => {
  const { updates, send } = startTranslator();
  send({ sessionUpdate: 'session_info_update', title: 'A title', updatedAt: '2026-01-01' });
  send({ sessionUpdate: 'session_info_update', title: null });
  expect(updates).toEqual([{ title: 'A title' }]);
});

test('an option or choice without a name gets its id as name; a choice without a value is left out', () => {
  const configOptions = [{ id: 'x', currentValue: 'a', options: [{ value: 'a' }, { name: 'B' }] }];
  expect(optionsAfter({ configOptions })).toEqual([
    { id: 'x', name: 'x', currentValue: 'a', options: [{ value: 'a', name: 'a' }] },
  ]);
});

test('an option keeps its description', () => {
  const described = { ...effort, description: 'How long it thinks.' };
  expect(optionsAfter({ configOptions: [described] })).toMatchObject([
    { description: 'How long it thinks.' },
  ]);
});

test('an option whose value or type is boolean is a switch', () => {
  const switches = [
    { id: 'a', currentValue: false },
    { id: 'b', currentValue: 'true', type: 'boolean' },
  ];
  const read = optionsAfter({ configOptions: switches });
  expect(read?.map(({ currentValue, options }) => [currentValue, options.length])).toEqual([
    ['false', 2],
    ['true', 2],
  ]);
});

test('modes and models without a current value change nothing', () => {
  const steps = [
    { modes, models },
    { modes: { availableModes: [] }, models: {} },
  ];
  expect(optionsAfter(...steps)?.map(({ currentValue }) => currentValue)).toEqual(['ask', 'big']);
});

test('a current mode without a list of modes has no choices', () => {
  expect(optionsAfter({ modes: { currentModeId: 'ask' } })).toEqual([
    { ...modeOption, options: [] },
  ]);
});

test('if there are no modes, a change of mode reports the settings unchanged', () => {
  const changed = { sessionUpdate: 'current_mode_update', currentModeId: 'code' };
  expect(optionsAfter({ configOptions: [effort] }, changed)).toMatchObject([
    { id: 'effort', currentValue: 'low' },
  ]);
});

test('a change of mode changes only the mode', () => {
  const changed = { sessionUpdate: 'current_mode_update', currentModeId: 'code' };
  expect(optionsAfter({ modes, models, configOptions: [effort] }, changed)).toMatchObject([
    { id: 'effort', currentValue: 'low' },
    { id: 'mode', currentValue: 'code' },
    { id: 'model', currentValue: 'big' },
  ]);
});

test('an option called mode is the mode, whatever its category', () => {
  const changed = { sessionUpdate: 'current_mode_update', currentModeId: 'high' };
  const own = { ...effort, id: 'mode', category: null };
  expect(optionsAfter({ configOptions: [own] }, changed)).toMatchObject([{ currentValue: 'high' }]);
});

test('if no models are listed, the only option of the category is the model', () => {
  const { translator, drafts } = startTranslator();
  const option = { ...effort, id: 'which', name: 'Which', category: 'model', currentValue: 'big' };
  translator.settings({ configOptions: [effort, option] });
  translator.begin('turn', 'Hi.', timestamp);
  expect(drafts[0]?.payload).toMatchObject({ modelId: 'big' });
});

test('a command’s hint and description may be missing', () => {
  const { updates, send } = startTranslator();
  const availableCommands = [{ name: 'a' }, { name: 'b', input: { hint: null } }, { name: 'a/b' }];
  send({ sessionUpdate: 'available_commands_update', availableCommands });
  expect(updates).toEqual([
    { commands: ['a', 'b', 'a/b'].map((name) => ({ name, description: '' })) },
  ]);
});
