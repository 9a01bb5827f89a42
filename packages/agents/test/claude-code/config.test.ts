import { setTimeout } from 'node:timers/promises';
import { reply, type MessagesApi, type MessagesRequest } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { claudePid } from './processes.ts';
import { shareClaude, type ClaudeListener } from './running-claude.ts';

const share = shareClaude({ provider: { maxStarts: 1 } });

const lastOf = (api: MessagesApi): MessagesRequest =>
  api.requests.findLast(({ kind }) => kind === 'main')!;

test('model, permissions and thinking can be changed between turns', async () => {
  const { first: listener, provider, api } = share(() => () => reply('Fine.'));
  const update = await listener.until(() => listener.updates.find((one) => one.configOptions));
  expect(update.configOptions?.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['model', 'default'],
    ['mode', 'default'],
    ['thinking', 'default'],
    ['speed', 'standard'],
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

test('fast mode is offered if the model has it, requested from the API, and kept for the next process', async () => {
  const { listener, provider, api, workspace } = share(() => () => reply('Fine.'));
  const { sessionId } = listener;
  await provider.setConfigOption(sessionId, 'speed', 'fast');
  await listener.ask('One.');
  expect(lastOf(api).body['speed']).toBe('fast');
  expect(listener.option('speed')).toBe('fast');
  await provider.killSession(sessionId);
  await provider.loadSession(sessionId, { projectDir: workspace.projectDir });
  await listener.ask('Two.');
  expect(lastOf(api).body['speed']).toBe('fast');

  await provider.setConfigOption(sessionId, 'model', 'haiku');
  expect(listener.option('speed')).toBeUndefined();
  await provider.setConfigOption(sessionId, 'model', 'default');
  await provider.setConfigOption(sessionId, 'speed', 'standard');
  await listener.ask('Three.');
  expect(lastOf(api).body).not.toHaveProperty('speed');
  expect(listener.option('speed')).toBe('standard');
});

test('a cleared conversation reports its new id', async () => {
  const { first, listener } = share(() => () => reply('Fine.'));
  await listener.ask('Before.');
  await listener.ask('/clear');
  const ids = first.updates.flatMap((update) => update.agentSessionId ?? []);
  expect(ids[0]).toBe(first.sessionId);
  expect(ids.at(-1)).not.toBe(first.sessionId);
});

/** Whether the session's process is running. The process has Claude Code's own session id as an argument. */
const isStarted = ({ sessionId, updates }: ClaudeListener): boolean => {
  const own = updates.findLast(({ agentSessionId }) => agentSessionId)?.agentSessionId;
  try {
    return claudePid(own ?? sessionId) > 0;
  } catch {
    return false;
  }
};

test('a session starts with the given settings, and a restarted process keeps them; thinking can be off; concurrent starts are limited', async () => {
  const { first, create, provider, api, workspace } = share(() => () => reply('Fine.'));
  const { projectDir } = workspace;
  const model = 'claude-sonnet-5';
  const listener = await create({ model, mode: 'acceptEdits', thinking: 'off' });
  await listener.ask('One.');
  expect(lastOf(api).body.model).toContain('sonnet');
  expect(lastOf(api).body['thinking']).toEqual({ type: 'disabled' });
  await provider.setConfigOption(listener.sessionId, 'thinking', 'high');
  await listener.ask('Two.');
  expect(lastOf(api).body['thinking']).toMatchObject({ type: 'adaptive' });
  expect(lastOf(api).body['output_config']).toMatchObject({ effort: 'high' });

  const both = [listener, first];
  for (const { sessionId } of both) await provider.killSession(sessionId);
  const order: ClaudeListener[] = [];
  const starts = both.map(async (one) => {
    await provider.loadSession(one.sessionId);
    order.push(one);
  });
  let most = 0;
  while (order.length === 0) {
    most = Math.max(most, both.filter(isStarted).length);
    await setTimeout(20);
  }
  await Promise.all(starts);
  expect(most).toBe(1);
  expect(order).toEqual(both);
  expect(both.every(({ sessionId }) => provider.isAlive(sessionId))).toBe(true);

  await listener.ask('Three.');
  expect(lastOf(api).body.model).toContain('sonnet');
  expect(lastOf(api).body['output_config']).toMatchObject({ effort: 'high' });
  expect(listener.option('mode')).toBe('acceptEdits');
  await provider.setConfigOption(listener.sessionId, 'thinking', 'off');
  await listener.ask('Four.');
  expect(lastOf(api).body['thinking']).toEqual({ type: 'disabled' });
  await expect(
    provider.createSession({ projectDir, config: { mode: 'wild' } }),
  ).rejects.toMatchObject({
    code: 'INVALID_OPTION',
  });
});
