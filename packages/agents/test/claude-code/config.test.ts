import { reply, type MessagesApi, type MessagesRequest } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { runClaude } from './running-claude.ts';

const lastOf = (api: MessagesApi): MessagesRequest =>
  api.requests.findLast(({ kind }) => kind === 'main')!;

test('model, permissions and thinking can be changed between turns', async () => {
  const { create, provider, api } = await runClaude(() => () => reply('Fine.'));
  const listener = await create();
  const update = await listener.until(() => listener.updates.find((one) => one.configOptions));
  expect(update.configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['model', 'default'],
    ['mode', 'default'],
    ['thinking', 'default'],
  ]);
  const models = update.configOptions![0]!.options.map(({ value }) => value);
  expect(models).toContain('haiku');

  const first = await listener.ask('One.');
  await provider.setConfigOption(listener.sessionId, 'model', 'haiku');
  await provider.setConfigOption(listener.sessionId, 'thinking', 'low');
  const second = await listener.ask('Two.');
  expect(second.modelId).not.toBe(first.modelId);
  expect(lastOf(api).body.model).toContain('haiku');
  expect(lastOf(api).body['output_config']).toMatchObject({ effort: 'low' });
  expect(listener.option('thinking')).toBe('low');

  await provider.setConfigOption(listener.sessionId, 'model', 'default');
  expect((await listener.ask('Three.')).modelId).toBe(first.modelId);

  const invalid = { code: 'INVALID_OPTION' };
  await expect(
    provider.setConfigOption(listener.sessionId, 'model', 'abacus'),
  ).rejects.toMatchObject(invalid);
  await expect(
    provider.setConfigOption(listener.sessionId, 'taste', 'sweet'),
  ).rejects.toMatchObject(invalid);
});

test('thinking can be turned off and on, for models that can work without it', async () => {
  const { create, provider, api } = await runClaude(() => () => reply('Fine.'));
  const listener = await create({ model: 'claude-sonnet-5', thinking: 'off' });
  await listener.ask('One.');
  expect(lastOf(api).body['thinking']).toEqual({ type: 'disabled' });
  await provider.setConfigOption(listener.sessionId, 'thinking', 'high');
  await listener.ask('Two.');
  expect(lastOf(api).body['thinking']).toMatchObject({ type: 'adaptive' });
  expect(lastOf(api).body['output_config']).toMatchObject({ effort: 'high' });
  await provider.setConfigOption(listener.sessionId, 'thinking', 'off');
  await listener.ask('Three.');
  expect(lastOf(api).body['thinking']).toEqual({ type: 'disabled' });
});

test('a session starts with the settings it is given, and a restarted process keeps them', async () => {
  const { create, provider, api, workspace } = await runClaude(() => () => reply('Fine.'));
  const listener = await create({ model: 'sonnet', mode: 'acceptEdits', thinking: 'high' });
  await listener.ask('One.');
  expect(lastOf(api).body.model).toContain('sonnet');
  expect(lastOf(api).body['output_config']).toMatchObject({ effort: 'high' });
  await provider.killSession(listener.sessionId);
  await provider.loadSession(listener.sessionId);
  await listener.ask('Two.');
  expect(lastOf(api).body.model).toContain('sonnet');
  expect(listener.option('mode')).toBe('acceptEdits');
  const { projectDir } = workspace;
  await expect(
    provider.createSession({ projectDir, config: { mode: 'wild' } }),
  ).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
});

test('a cleared conversation tells its new id', async () => {
  const { create } = await runClaude(() => () => reply('Fine.'));
  const listener = await create();
  await listener.ask('One.');
  await listener.ask('/clear');
  const ids = listener.updates.flatMap((update) => update.agentSessionId ?? []);
  expect(ids[0]).toBe(listener.sessionId);
  expect(ids.at(-1)).not.toBe(listener.sessionId);
});

test('no more processes start at once than are allowed', async () => {
  const { create, provider } = await runClaude(() => [], { provider: { maxStarts: 1 } });
  const order: string[] = [];
  const started = ['a', 'b', 'c'].map(async (name) => {
    const listener = await create();
    order.push(name);
    return listener;
  });
  const listeners = await Promise.all(started);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(listeners.every(({ sessionId }) => provider.isAlive(sessionId))).toBe(true);
});
