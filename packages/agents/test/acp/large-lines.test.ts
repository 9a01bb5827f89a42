/** Lines of more than a MiB are parsed in another thread; only the times of their events may differ. */
import { atLength } from '@liminal/testkit/at-length';
import { expect, test } from 'vitest';
import { parseLargeLine } from '../../src/base/large-lines.ts';
import { runAgent, messagesOf } from './running-agent.ts';

/** A text longer than a MiB; three times as long in long test runs. */
const long = 'slow and steady '.repeat(atLength ? 200_000 : 70_000);

test('a large line keeps its place between other lines', async () => {
  const { create } = await runAgent({
    turns: [{ steps: [{ say: 'before ' }, { say: long }, { say: 'after' }] }],
  });
  const listener = await create();
  expect(messagesOf(await listener.ask('Go.'))).toEqual([
    'user: Go.',
    `agent: before ${long}after`,
  ]);
});

test('a large line is read even if the agent ends directly after it', async () => {
  const { create } = await runAgent({
    turns: [{ steps: [{ say: 'before ' }, { say: long }, { exit: { code: 1 } }] }],
  });
  const gone = await (await create()).ask('Go.');
  expect(messagesOf(gone)).toEqual(['user: Go.', `agent: before ${long}`]);
  expect(gone.error).toMatchObject({ code: 'PROCESS_CRASH' });
});

test('SAFE: a large line that is not a message is ignored, and the turn continues', async () => {
  const { create } = await runAgent({
    turns: [{ steps: [{ say: 'before ' }, { raw: 'x'.repeat(long.length) }, { say: 'after' }] }],
  });
  const listener = await create();
  expect(messagesOf(await listener.ask('Go.'))).toEqual(['user: Go.', 'agent: before after']);
});

test('SAFE: an input and an output with too many values to parse are shown as their whole JSON', async () => {
  // More than the 100,000 values that a message may have.
  const count = atLength ? 300_000 : 120_000;
  const values = Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]));
  const update = { sessionUpdate: 'tool_call', title: 'Run', kind: 'execute', status: 'completed' };
  const { create } = await runAgent({
    turns: [
      {
        steps: [
          { update: { ...update, toolCallId: 'c', rawInput: values } },
          { update: { ...update, toolCallId: 'd', rawOutput: values } },
        ],
      },
    ],
  });
  const { outputItems } = await (await create()).ask('Go.');
  const call = outputItems.find(({ type }) => type === 'function_call');
  expect(call).toMatchObject({ arguments: JSON.stringify(values) });
  const output = outputItems.findLast(({ type }) => type === 'function_call_output');
  expect(output).toMatchObject({ output: JSON.stringify(values), success: true });
});

test('SAFE: after lines with too many values for the memory, reading continues', async () => {
  const many = atLength ? 11_000_000 : 1_100_000;
  const output = `[${'{},'.repeat(many)}1]`;
  const line = (json: string): string => `{"params":{"update":{"rawOutput":${json}}}}`;
  expect(await parseLargeLine(line(output))).toEqual({ params: { update: { rawOutput: output } } });
  // No real message has so many fields.
  expect(await parseLargeLine(`{${'"a":1,'.repeat(many / 2)}"b":2}`)).toBeUndefined();
});
