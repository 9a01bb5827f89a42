import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shapes } from '@liminal/testkit';
import type { OutputItem, Response } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { runAgent, messagesOf } from './running-agent.ts';

const itemsOf = <T extends OutputItem['type']>({ outputItems }: Response, type: T) =>
  outputItems.filter((item): item is Extract<OutputItem, { type: T }> => item.type === type);

test('a turn that the agent stops at its step limit is complete, and has the reason', async () => {
  const listener = await (await runAgent(shapes.stepLimit)).create();
  const response = await listener.ask('Go on.');
  expect(response).toMatchObject({ status: 'complete', finishReason: 'max_turn_requests' });
  expect(listener.turns.at(-1)).toMatchObject({
    type: 'turn_complete',
    status: 'completed',
    finishReason: 'max_turn_requests',
  });
});

test('an agent that first asks for a missing file then creates it', async () => {
  const { create, control, projectDir } = await runAgent(shapes.newFile);
  const response = await (await create()).ask('Make it.');
  expect(messagesOf(response).at(-1)).toBe('agent: It is made.');
  expect(await readFile(join(projectDir, 'made.txt'), 'utf8')).toBe('made\n');
  const { error } = await control.until((message) => message.error !== undefined);
  expect(error).toMatchObject({ code: -32002, data: { uri: join(projectDir, 'made.txt') } });
});

test('a permission request does not change its call, and shows its own fields', async () => {
  const { create, projectDir } = await runAgent(shapes.requestRepeatsCall);
  const listener = await create();
  const turnId = await listener.send('Write it.');
  const request = await listener.asked(turnId);
  const path = join(projectDir, 'made.txt');
  expect(listener.of(turnId).map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({ patch: { diffs: [{ path, oldText: null, newText: 'made\n' }] } }),
  );
  expect(request).toMatchObject({ title: 'edit', callId: 'call_1' });
  await request.answer('once');
  const [call, ...others] = itemsOf(await listener.response(turnId), 'function_call');
  expect(others).toEqual([]);
  expect(call).toMatchObject({ title: 'Write made.txt', kind: 'edit' });
  expect(JSON.parse(call?.arguments ?? '')).toEqual({ filePath: path, content: 'made\n' });
  expect(JSON.stringify(call?.raw)).toContain('+made');
});

test('JSON beside a diff is not shown as output, but kept', async () => {
  const response = await (await (await runAgent(shapes.editWithJson)).create()).ask('Edit it.');
  expect(itemsOf(response, 'function_call')[0]?.diffs).toHaveLength(1);
  const [output] = itemsOf(response, 'function_call_output');
  expect(output).toMatchObject({ output: '', raw: { fileDiff: '-a\n+b\n' } });
});

test('an output that is a string among other fields is shown as that string', async () => {
  const response = await (await (await runAgent(shapes.contentAsString)).create()).ask('Look.');
  expect(itemsOf(response, 'function_call_output')[0]?.output).toBe('1. first line');
});

test('text before and after a tool’s end is two messages', async () => {
  const response = await (await (await runAgent(shapes.textAroundEnd)).create()).ask('Write.');
  expect(messagesOf(response)).toEqual([
    'user: Write.',
    'agent: I write made.txt',
    'agent: Written.',
  ]);
});

test('a refused call that is announced again is one call', async () => {
  const listener = await (await runAgent(shapes.refusedAgain)).create();
  const turnId = await listener.send('Remove it.');
  await (await listener.asked(turnId)).answer('reject');
  const response = await listener.response(turnId);
  expect(itemsOf(response, 'function_call')).toHaveLength(1);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});

test('a provider among the options of the model’s category is not taken for the model', async () => {
  const response = await (await (await runAgent(shapes.providerFirst)).create()).ask('Hi.');
  expect(response.modelId).toBe('big');
});

test('modes that are also a config option are shown once, and are set by the option', async () => {
  const { create, provider, control } = await runAgent(shapes.modesTwice);
  const listener = await create();
  await listener.ask('Hi.');
  const told = listener.updates.findLast(({ configOptions }) => configOptions !== undefined);
  expect(told?.configOptions?.map(({ id }) => id)).toEqual(['thinking']);
  await provider.setConfigOption(listener.sessionId, 'thinking', 'high');
  await control.until('session/set_config_option');
  expect(listener.option('thinking')).toBe('high');
});

test('a subagent’s call is shown below the call that began the subagent', async () => {
  const response = await (await (await runAgent(shapes.subagent)).create()).ask('Find it.');
  const calls = itemsOf(response, 'function_call');
  expect(calls.map(({ callId, parentCallId }) => [callId, parentCallId])).toEqual([
    ['task', undefined],
    ['inner', 'task'],
  ]);
});

test('a request is shown with its description', async () => {
  const listener = await (await runAgent(shapes.planToAgreeTo)).create();
  const turnId = await listener.send('Plan it.');
  const request = await listener.asked(turnId);
  expect(request).toMatchObject({
    title: 'Would you like to proceed?',
    description: '1. Look\n2. Change it',
  });
  await request.answer('once');
  const [approval] = itemsOf(await listener.response(turnId), 'approval');
  expect(approval).toMatchObject({ description: '1. Look\n2. Change it' });
});
