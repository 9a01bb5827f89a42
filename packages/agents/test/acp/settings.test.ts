import type { AgentScript } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { coded } from '../../src/testing/subject.ts';
import { runAgent } from './running-agent.ts';

const modes = {
  currentModeId: 'ask',
  availableModes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code' },
  ],
};
const models = {
  currentModelId: 'small',
  availableModels: [
    { modelId: 'small', name: 'Small' },
    { modelId: 'large', name: 'Large' },
  ],
};
const select = {
  type: 'select',
  id: 'effort',
  name: 'Effort',
  category: 'thought_level',
  currentValue: 'low',
  options: [
    { value: 'low', name: 'Low' },
    { value: 'high', name: 'High' },
  ],
};
const toggle = { type: 'boolean', id: 'web', name: 'Web search', currentValue: false };
const all: AgentScript = { session: { modes, models, configOptions: [select, toggle] } };

test.each([
  ['mode', 'code', 'session/set_mode', { modeId: 'code' }],
  ['effort', 'high', 'session/set_config_option', { configId: 'effort', value: 'high' }],
  ['web', 'true', 'session/set_config_option', { configId: 'web', type: 'boolean', value: true }],
  ['model', 'large', 'session/set_model', { modelId: 'large' }],
])(
  'setting %s to %s sends %s, and the new value is reported',
  async (id, value, method, params) => {
    const { create, control, provider } = await runAgent({
      ...all,
      on: { 'session/set_model': [{ result: {} }] },
    });
    const listener = await create();
    await listener.until(() => listener.option(id));

    await provider.setConfigOption(listener.sessionId, id, value);

    const sent = await control.until(method);
    expect(sent.params).toEqual({ sessionId: await listener.agentSessionId(), ...params });
    expect(listener.option(id)).toBe(value);
  },
);

test('a title is set in the agent’s store only if the agent supports that', async () => {
  const agentCapabilities = { sessionCapabilities: { title: {} } };
  const { create, control, provider } = await runAgent({
    initialize: { agentCapabilities },
    on: { 'session/set_title': [{ result: {} }] },
  });
  const listener = await create();
  await provider.rename(listener.sessionId, 'Quinces');
  const { params } = await control.until('session/set_title');
  expect(params).toEqual({ sessionId: await listener.agentSessionId(), title: 'Quinces' });

  const without = await runAgent();
  const { sessionId } = await without.create();
  await without.provider.rename(sessionId, 'Quinces');
  expect(await without.calls()).not.toContain('session/set_title');
});

test('an option or a value that the agent does not offer is refused, and nothing is sent', async () => {
  const { create, calls, provider } = await runAgent(all);
  const { sessionId } = await create();
  const invalid = coded('INVALID_OPTION');
  await expect(provider.setConfigOption(sessionId, 'mode', 'fly')).rejects.toMatchObject(invalid);
  await expect(provider.setConfigOption(sessionId, 'colour', 'red')).rejects.toMatchObject(invalid);
  expect(await calls()).toEqual(['initialize', 'session/new', 'session/close']);
});

test('an agent’s refusal of a setting is quoted, and the setting stays', async () => {
  const error = { code: -32603, message: 'Not today' };
  const { create, provider } = await runAgent({ ...all, on: { 'session/set_mode': [{ error }] } });
  const listener = await create();
  await listener.until(() => listener.option('mode'));
  await expect(provider.setConfigOption(listener.sessionId, 'mode', 'code')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('Not today'),
  });
  expect(listener.option('mode')).toBe('ask');
});

test('a change by the agent itself is reported, and later changes start from it', async () => {
  const { create, control, provider } = await runAgent(all);
  const listener = await create();
  await listener.until(() => listener.option('mode'));
  const sessionId = await listener.agentSessionId();
  const update = { sessionUpdate: 'current_mode_update', currentModeId: 'code' };
  control.write({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } });
  await listener.until(() => listener.option('mode') === 'code');

  await provider.setConfigOption(listener.sessionId, 'effort', 'high');

  expect([listener.option('mode'), listener.option('effort')]).toEqual(['code', 'high']);
});

test('the settings of a new session override the configured defaults', async () => {
  const { create, calls } = await runAgent(all, {
    provider: { defaults: { mode: 'code', config: { effort: 'high', gone: 'x' } } },
  });
  const listener = await create({ config: { effort: 'low', web: 'true' } });
  await listener.until(() => listener.option('web'));
  expect(['mode', 'effort', 'web'].map((id) => listener.option(id))).toEqual([
    'code',
    'low',
    'true',
  ]);
  const set = (await calls()).filter((method) => method.startsWith('session/set'));
  expect(set).toEqual(['session/set_mode', 'session/set_config_option']);
});

test('a default that the agent does not have is reported and left out', async () => {
  const { create } = await runAgent(all, {
    provider: { defaults: { mode: 'fly', config: { effort: 'high', gone: 'x' } } },
  });
  const listener = await create();
  await listener.until(() => listener.option('effort') === 'high');
  expect(listener.option('mode')).toBe('ask');
  expect(listener.updates.findLast(({ notices }) => notices)?.notices).toEqual([
    {
      level: 'warning',
      text: 'A default in the configuration was left out. “fly” is not a value of “mode”. Values: ask, code.',
    },
    {
      level: 'warning',
      text: 'A default in the configuration was left out. The agent has no option “gone”. Options: effort, web, mode, model.',
    },
  ]);
});

test('an unknown setting is left out in an earlier session, but refused in a new session', async () => {
  const { create, provider, control } = await runAgent(all);
  await expect(create({ config: { colour: 'red' } })).rejects.toMatchObject(
    coded('INVALID_OPTION'),
  );
  await (
    await control.process()
  ).gone;

  const listener = await create();
  await listener.ask('Hi.');
  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId, { config: { colour: 'red', effort: 'high' } });
  await listener.until(() => listener.option('effort') === 'high');
  expect(provider.isAlive(listener.sessionId)).toBe(true);
});

test('a killed session is opened again with its settings', async () => {
  const { create, provider } = await runAgent(all);
  const listener = await create();
  await provider.setConfigOption(listener.sessionId, 'mode', 'code');
  await listener.ask('Hi.');
  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId);
  await provider.setConfigOption(listener.sessionId, 'effort', 'high');
  expect([listener.option('mode'), listener.option('effort')]).toEqual(['code', 'high']);
});

test('a value that an option lacks is refused with a list of ten of its values', async () => {
  const availableModes = Array.from({ length: 12 }, (_, at) => ({ id: `m${at}`, name: `M${at}` }));
  const { create, provider } = await runAgent({
    session: { modes: { currentModeId: 'm0', availableModes } },
  });
  const { sessionId } = await create();
  await expect(provider.setConfigOption(sessionId, 'mode', 'fly')).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message:
      '“fly” is not a value of “mode”. Values: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more.',
  });
});
