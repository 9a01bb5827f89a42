import type { EventDraft, OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FairSemaphore } from '../../base/fair-semaphore.ts';
import { type ApprovalQuestion, PendingApprovals } from '../../base/pending-approvals.ts';
import { TurnWriter } from '../../base/turn-writer.ts';
import type { ProjectGrants } from '../../contract/provider.ts';
import { foldTurn } from '../../testing/folding.ts';
import type { Tool, ToolContext, ToolResult } from '../tools/index.ts';
import { Permissions } from './permissions.ts';
import { ToolCalls } from './tool-calls.ts';
import type { WantedCall } from './waiting-calls.ts';

const time = '2026-01-01T00:00:00.000Z';
const permission = { always: 'moves', rule: 'tool:move' };

/** A tool with the input `{to}`; `run` decides its result. */
function moving(
  run: (to: string, context: ToolContext) => ToolResult | Promise<ToolResult>,
  needs?: Tool<{ to: string }>['needs'],
): Tool {
  const tool: Tool<{ to: string }> = {
    name: 'move',
    description: 'Moves it.',
    kind: 'move',
    input: z.object({ to: z.string() }),
    describe: async ({ to }) => ({ title: `Move to ${to}`, locations: [{ path: to }] }),
    needs: needs ?? (() => undefined),
    run: async ({ to }, context) => run(to, context),
  };
  return tool;
}

const done: ToolResult = { output: 'Moved.', success: true };

function open(
  tools: readonly Tool[],
  { runsScripts = false, grants }: { runsScripts?: boolean; grants?: ProjectGrants } = {},
) {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter('t', (draft) => void drafts.push(draft));
  writer.at(time);
  writer.begin({ modelId: 'm', providerId: 'p', trigger: 'user' }, undefined);
  const asked = Promise.withResolvers<ApprovalQuestion & { approvalId: string }>();
  const approvals = new PendingApprovals({
    open: (request) => {
      asked.resolve(request);
      writer.openApproval(request);
    },
    close: (id, outcome) => writer.closeApproval(id, outcome),
  });
  const permissions = new Permissions({ grants, onProblem: () => {} });
  const owner = {};
  const calls = new ToolCalls({
    tools,
    folders: { projectDir: '/project' },
    runsScripts,
    scripts: new FairSemaphore({ each: 1, total: 1 }),
    owner,
    approvals,
    permissions,
  });
  const stopping = new AbortController();
  const run = async (call: Partial<WantedCall> = {}) => {
    const wanted = { ...callOf('{"to":"a"}'), ...call };
    if (wanted.item !== undefined) writer.start(wanted.item);
    return calls.run(wanted, () => writer, stopping.signal);
  };
  const items = (): OutputItem[] => foldTurn(drafts, 't').outputItems;
  const payloads = () => drafts.map(({ payload }) => payload);
  return {
    calls,
    run,
    items,
    payloads,
    asked: asked.promise,
    approvals,
    permissions,
    owner,
    stopping,
    writer,
  };
}

function callOf(text: string, more: Partial<OutputItem> = {}): WantedCall {
  const fields = { callId: 'c', name: 'move', arguments: text };
  const item = {
    type: 'function_call',
    id: 'i',
    origin: 'agent',
    ...fields,
    ...more,
  } as OutputItem;
  return { ...fields, itemId: 'i', item };
}

test('a call gets its tool’s title and kind, and the tool gets the session’s folders and signal', async () => {
  const contexts: ToolContext[] = [];
  const { run, items, owner, stopping } = open([
    moving((_, context) => {
      contexts.push(context);
      return done;
    }),
  ]);
  expect(await run()).toEqual({ output: 'Moved.', success: true, endedAt: time });
  expect(contexts).toMatchObject([{ projectDir: '/project' }]);
  expect(contexts[0]?.owner).toBe(owner);
  expect(contexts[0]?.signal).toBe(stopping.signal);
  expect(items()).toMatchObject([
    {
      id: 'i',
      title: 'Move to a',
      kind: 'move',
      locations: [{ path: 'a' }],
      arguments: '{"to":"a"}',
    },
    { id: 'i:output', callId: 'c', output: 'Moved.', success: true, origin: 'tool_harness' },
  ]);
});

test('an output has exactly the parts that the tool returned', async () => {
  const diffs = [{ path: 'a', newText: 'b' }] as ToolResult['diffs'];
  const parts: ToolResult = {
    ...done,
    blocks: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    ...(diffs && { diffs }),
    exitCode: null,
  };
  const { run, items } = open([moving(() => parts)]);
  await run();
  expect(items()[1]).toMatchObject(parts);

  const plain = open([moving(() => done)]);
  await plain.run();
  const [, output] = plain.items();
  for (const field of ['blocks', 'diffs', 'exitCode', 'parentCallId']) {
    expect(output).not.toHaveProperty(field);
  }
  expect(plain.items()).toHaveLength(2);
});

test('a plan that a tool returns is an item after the output', async () => {
  const plan: ToolResult['plan'] = [{ content: 'Move', priority: 'high', status: 'pending' }];
  const { run, items } = open([moving(() => ({ ...done, plan }))]);
  await run();
  expect(items().slice(1)).toMatchObject([
    { type: 'function_call_output' },
    { type: 'plan', id: 'i:plan', entries: plan },
  ]);
});

test('text that a running tool prints is shown at once, and the whole output replaces the text', async () => {
  const { run, items, payloads } = open([
    moving((_, { print }) => {
      print('Mo');
      print('ving');
      return done;
    }),
  ]);
  await run();
  const shown = payloads().flatMap((payload) =>
    'itemId' in payload && payload.itemId === 'i:output' ? payload : [],
  );
  expect(shown).toMatchObject([
    { type: 'item_start', itemType: 'function_call_output', callId: 'c' },
    { type: 'item_delta', deltaContent: 'Mo' },
    { type: 'item_delta', deltaContent: 'ving' },
    { type: 'item_done', finalItem: { output: 'Moved.', success: true } },
  ]);
  expect(items()).toHaveLength(2);
});

test('the output of a call within a script has the script’s id', async () => {
  const { run, items } = open([moving(() => done)]);
  await run(callOf('{"to":"a"}', { parentCallId: 's' }));
  expect(items()).toMatchObject([{ parentCallId: 's' }, { parentCallId: 's' }]);
});

test.each<[string, Partial<WantedCall>, RegExp]>([
  ['another name', { name: 'fly' }, /^There is no tool fly\. The tools are: move, rest\.$/],
  [
    'no JSON',
    { arguments: '{"to":' },
    /^The arguments are not JSON \(.+\)\. Call the tool again\.$/,
  ],
  ['another input', { arguments: '{"to":1}' }, /^The input is invalid\. .*string/s],
  ['a problem', { problem: 'It was cut off.' }, /^It was cut off\.$/],
])('a call with %s is not run, and the model gets the reason', async (_, call, why) => {
  const { run, items, payloads } = open([
    moving(() => expect.fail('It must not run.')),
    { ...moving(() => done), name: 'rest' },
  ]);
  const result = await run(call);
  expect(result).toEqual({ output: expect.stringMatching(why), success: false, endedAt: time });
  expect(items()[1]).toMatchObject({ output: result.output, success: false });
  expect(payloads().filter(({ type }) => type === 'item_done')).toHaveLength(2);
});

test('empty arguments are an empty object', async () => {
  const tool: Tool = { ...moving(() => done), input: z.object({}) };
  const { run } = open([{ ...tool, describe: async () => ({ title: 'Move' }) }]);
  expect(await run({ arguments: ' \n' })).toMatchObject({ success: true });
});

test('an unexpected error of a tool is an output for the model', async () => {
  const { run } = open([
    moving(() => {
      throw new Error('The lift is stuck.');
    }),
  ]);
  expect(await run()).toMatchObject({
    output: 'The tool failed. The lift is stuck.',
    success: false,
  });
});

test('the output of a stopped call names the reason, and a stopped turn runs no tool', async () => {
  const { run, stopping } = open([
    moving(() => {
      stopping.abort();
      throw new Error('The lift is stuck.');
    }),
  ]);
  const stopped = { output: 'This was stopped by the user.', success: false };
  expect(await run()).toMatchObject(stopped);
  let hasRun = false;
  const later = open([
    moving(() => {
      hasRun = true;
      return done;
    }),
  ]);
  later.stopping.abort();
  expect(await later.run()).toMatchObject(stopped);
  expect(hasRun).toBe(false);
});

const asks = (run: Parameters<typeof moving>[0] = () => done) => moving(run, () => [permission]);

test('a question shows the call, and offers a permission for the session', async () => {
  const { run, asked, approvals, items } = open([asks()]);
  const running = run();
  const { approvalId, title, callId, options, asked: shown } = await asked;
  expect({ title, callId, shown }).toEqual({
    title: 'Move to a',
    callId: 'c',
    shown: {
      name: 'move',
      arguments: '{"to":"a"}',
      kind: 'move',
      title: 'Move to a',
      locations: [{ path: 'a' }],
    },
  });
  expect(options).toEqual([
    { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
    { optionId: 'always', name: 'Always allow moves in this session', kind: 'allow_always' },
    { optionId: 'refuse', name: 'Reject', kind: 'reject_once', takesNote: true },
  ]);
  approvals.answer(approvalId, { optionId: 'allow' });
  expect(await running).toMatchObject({ output: 'Moved.', success: true });
  expect(items().map(({ type }) => type)).toEqual([
    'function_call',
    'approval',
    'function_call_output',
  ]);
});

test('a call that needs several permissions asks for them together', async () => {
  const needed = [permission, { always: 'lifts', rule: 'tool:lift' }];
  const { run, asked, approvals } = open([
    moving(
      () => done,
      () => needed,
    ),
  ]);
  const running = run();
  const { approvalId, options } = await asked;
  expect(options[1]?.name).toBe('Always allow moves, lifts in this session');
  approvals.answer(approvalId, { optionId: 'allow' });
  await running;
});

test('a permanent permission is added to the project, and a permission for one call is not', async () => {
  const added: string[] = [];
  const grants: ProjectGrants = {
    list: async () => [],
    add: async (rule, title) => void added.push(`${rule} ${title}`),
  };
  for (const optionId of ['allow', 'always']) {
    const { run, asked, approvals } = open([asks()], { grants });
    const running = run();
    const { approvalId, options } = await asked;
    expect(options[1]?.name).toBe('Always allow moves in this project');
    approvals.answer(approvalId, { optionId });
    expect(await running).toMatchObject({ success: true });
  }
  expect(added).toEqual(['tool:move moves']);
});

test('SAFE: a refused call is not run, and the model gets the user’s reason', async () => {
  for (const [note, output] of [
    [undefined, 'The user refused this.'],
    ['Not today.', 'The user refused this, and says: Not today.'],
  ]) {
    const { run, asked, approvals } = open([asks(() => expect.fail('It must not run.'))]);
    const running = run();
    const { approvalId } = await asked;
    approvals.answer(approvalId, { optionId: 'refuse', ...(note !== undefined && { note }) });
    expect(await running).toEqual({ output, success: false, endedAt: time });
  }
});

test('SAFE: a call whose question is withdrawn, or whose turn is stopped, is not run', async () => {
  const { run, asked, approvals } = open([asks(() => expect.fail('It must not run.'))]);
  const running = run();
  await asked;
  approvals.cancelAll('gone');
  expect(await running).toMatchObject({
    output: 'This was not done: the question was withdrawn.',
    success: false,
  });
  const stopped = open([asks(() => expect.fail('It must not run.'))]);
  const stopping = stopped.run();
  await stopped.asked;
  stopped.stopping.abort();
  expect(await stopping).toMatchObject({ output: 'This was stopped by the user.', success: false });
});

test('a resumed call asks again under its earlier id, and reports that people were asked', async () => {
  let count = 0;
  const onAsked = (): void => void (count += 1);
  const { run, asked, approvals } = open([asks()]);
  const running = run({ approvalId: 'earlier', onAsked });
  expect((await asked).approvalId).toBe('earlier');
  await Promise.resolve();
  expect(count).toBe(1);
  approvals.answer('earlier', { optionId: 'allow' });
  await running;
});

test('if a resumed call needs no permission, the call reports before its end that it asks no question', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { run, payloads } = open([
    moving(async () => {
      await promise;
      return done;
    }),
  ]);
  expect(await run({ onAsked: resolve })).toMatchObject({ success: true });
  expect(payloads().some((payload) => 'approvalId' in payload)).toBe(false);
});

test('a resumed call that cannot be run reports that people need not be asked', async () => {
  let hasReported = false;
  const { run } = open([moving(() => done)]);
  await run({ name: 'fly', onAsked: () => void (hasReported = true) });
  expect(hasReported).toBe(true);
});

test('a call whose item has ended gets an output', async () => {
  const { run, items } = open([moving(() => done)]);
  await run({ item: undefined });
  expect(items()).toMatchObject([{ type: 'function_call_output', output: 'Moved.' }]);
});

test('the model gets the schema of the tool’s input, or the schema that the tool itself provides', () => {
  const own = { type: 'object', properties: { any: {} } };
  const { calls } = open([
    moving(() => done),
    { ...moving(() => done), name: 'x', parameters: own },
  ]);
  expect(calls.definitions).toEqual([
    {
      name: 'move',
      description: 'Moves it.',
      parameters: {
        type: 'object',
        properties: { to: { type: 'string' } },
        required: ['to'],
      },
    },
    { name: 'x', description: 'Moves it.', parameters: own },
  ]);
  expect(calls.instructions).toBeUndefined();
  const input = z.object({ to: z.string().default('here') });
  const [optional] = open([{ ...moving(() => done), input }]).calls.definitions;
  expect(optional?.parameters).not.toHaveProperty('required');
});

test('scripts are offered only if scripts are switched on and at least one tool can be used in a script', () => {
  const on = open([moving(() => done)], { runsScripts: true }).calls;
  expect(on.definitions.map(({ name }) => name)).toEqual(['move', 'run_script']);
  expect(on.instructions).toContain('move(input: ');
  expect(on.instructions).not.toContain('run_script');
  expect(on.instructions).toBe(on.instructions);
  const none = open([], { runsScripts: true }).calls;
  expect(none.definitions).toEqual([]);
  expect(none.instructions).toBeUndefined();
});

test('a tool with the name of the script tool runs only if scripts are switched off', async () => {
  const tool: Tool = { ...moving(() => done), name: 'run_script' };
  const off = open([tool]);
  expect(await off.run({ name: 'run_script' })).toMatchObject({ output: 'Moved.' });
  const on = open([tool], { runsScripts: true });
  const code = 'return 1 + 1';
  expect(await on.run({ name: 'run_script', arguments: JSON.stringify({ code }) })).toMatchObject({
    output: '2',
    success: true,
  });
});
