import { claudeRecordingNames, loadClaudeRecording } from '@liminal/testkit';
import {
  isTerminal,
  Response,
  StreamEvent,
  stampEvent,
  type EventDraft,
  type EventPayload,
} from '@liminal/protocol';
import { expect, test } from 'vitest';
import { periodicTexts } from '../../../testing/periodic-texts.ts';
import {
  startTranslator,
  timestamp,
  type RecordedTranslator,
} from './testing/recorded-translator.ts';
import { foldTurns, itemsOf } from '../../../testing/folding.ts';

const names = await claudeRecordingNames();

/** Plays a recording; user messages become turn-1, turn-2, … */
async function replay(
  name: string,
  until: (entry: unknown) => boolean = () => false,
  change = (line: unknown): unknown => line,
): Promise<RecordedTranslator> {
  const hearing = startTranslator();
  const { translator } = hearing;
  let sent = 0;
  for (const entry of (await loadClaudeRecording(name)).entries) {
    if (until(entry)) break;
    if ('sdk' in entry) translator.read(change(entry.sdk), timestamp);
    else if (entry.host.action === 'interrupt') translator.stop(timestamp);
    else if (entry.host.action === 'send') {
      const { uuid, text } = entry.host;
      translator.expect({ uuid, text, turnId: `turn-${++sent}` });
    }
  }
  return hearing;
}

const respond = async (name: string, turnId = 'turn-1'): Promise<Response> =>
  foldTurns((await replay(name)).drafts).get(turnId)!;

/** Items without constant fields. */
const brief = (response: Response): Record<string, unknown>[] =>
  response.outputItems.slice(1).map((item) => ({
    ...('content' in item ? { [item.type]: item.content } : {}),
    ...(item.type === 'function_call' ? { call: item.title } : {}),
    ...(item.type === 'function_call_output'
      ? { [item.success ? 'output' : 'error']: item.output }
      : {}),
    ...(item.type === 'plan' ? { plan: item.entries.map((entry) => entry.status) } : {}),
    ...(item.parentCallId === undefined ? {} : { in: item.parentCallId }),
  }));

function openItems(payloads: EventPayload[]): string[] {
  const open = new Set<string>();
  for (const payload of payloads) {
    if (payload.type === 'item_start') open.add(payload.itemId);
    else if ('itemId' in payload && payload.type !== 'item_delta') open.delete(payload.itemId);
  }
  return [...open];
}

const types = (drafts: EventDraft[]): string[] => drafts.map((draft) => draft.payload.type);

test('each important case has a recording', () => {
  expect(names.length).toBeGreaterThan(30);
});

test.each(names)(
  'NFR-000-08: %s: valid turns, each with one start and one end, and every item ended before it',
  async (name) => {
    const { translator, drafts } = await replay(name);
    expect(translator.turn).toBeUndefined();
    const run = {
      sessionId: 's',
      runId: 'r',
      traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
    };
    const events = drafts.map((draft, seq) => StreamEvent.safeParse(stampEvent(draft, run, seq)));
    expect(events.map(({ error }) => error).filter((error) => error !== undefined)).toEqual([]);
    for (const turnId of new Set(drafts.map((draft) => draft.turnId))) {
      const payloads = drafts
        .filter((draft) => draft.turnId === turnId)
        .map((draft) => draft.payload);
      expect(payloads[0]?.type).toBe('response_start');
      expect(payloads.findIndex((payload) => isTerminal(payload))).toBe(payloads.length - 1);
      expect(openItems(payloads)).toEqual([]);
    }
  },
);

test.each(names)('in the recording %s, every call has an output', async (name) => {
  for (const response of foldTurns((await replay(name)).drafts).values()) {
    const called = itemsOf(response, 'function_call').map((call) => call.callId);
    const answered = itemsOf(response, 'function_call_output').map((output) => output.callId);
    expect(new Set(called)).toEqual(new Set(answered));
  }
});

test('TC-3.3a: a streamed text block becomes a message with each delta and the whole content', async () => {
  const { drafts } = await replay('text');
  const agent = drafts.filter(
    (draft) => 'itemId' in draft.payload && draft.payload.itemId === 'turn-1:1:0',
  );
  expect(types(agent)).toEqual([
    'item_start',
    ...Array.from({ length: 5 }, () => 'item_delta'),
    'item_done',
  ]);
  expect(agent[1]?.payload).toMatchObject({ deltaContent: 'Hello ' });
  expect(agent.at(-1)?.payload).toMatchObject({
    finalItem: { type: 'message', origin: 'agent', content: 'Hello from the scripted model.' },
  });
});

test('TC-3.3b: a tool_use block becomes a call whose arguments are streamed and are whole when it is done', async () => {
  const { drafts } = await replay('tool-bash');
  const call = drafts.filter(
    (draft) => 'itemId' in draft.payload && draft.payload.itemId === 'turn-1:1:0',
  );
  expect(call[0]?.payload).toMatchObject({
    itemType: 'function_call',
    name: 'Bash',
    callId: 'toolu_0001_0',
    kind: 'execute',
  });
  expect(types(call).filter((type) => type === 'item_delta').length).toBeGreaterThan(3);
  const [item] = itemsOf(await respond('tool-bash'), 'function_call');
  expect(JSON.parse(item!.arguments)).toEqual({
    command: 'echo out && echo err >&2',
    description: 'Print two lines',
  });
});

test('TC-3.3c: a tool result becomes the output of its call', async () => {
  expect(itemsOf(await respond('tool-bash'), 'function_call_output')).toMatchObject([
    { callId: 'toolu_0001_0', output: 'out\nerr', success: true, exitCode: 0 },
  ]);
});

test('TC-3.3d: thinking becomes reasoning, streamed or whole', async () => {
  expect(brief(await respond('thinking'))).toEqual([
    { reasoning: 'Let me think about it.' },
    { message: 'Thought through.' },
  ]);
  expect(itemsOf(await respond('fallback'), 'reasoning')).toMatchObject([
    { content: 'Whole thought.' },
  ]);
});

test('TC-3.3e: interleaved blocks are separate items, in the order of the answer', async () => {
  const response = await respond('multi-block');
  expect(brief(response)).toEqual([
    { reasoning: 'First I read.' },
    { message: 'Reading now.' },
    { call: 'Read notes.txt' },
    { message: 'And printing.' },
    { call: 'Run echo printed' },
    { output: '1\tone\n2\ttwo\n3\tthree\n4\t' },
    { output: 'printed' },
    { reasoning: 'That went well.' },
    { message: 'Done.' },
  ]);
  expect(new Set(response.outputItems.map((item) => item.id)).size).toBe(
    response.outputItems.length,
  );
});

test('TC-3.3f: a turn starts with its model and ends at the result, even after several messages of the model', async () => {
  const { drafts } = await replay('tool-edit');
  expect(drafts[0]?.payload).toMatchObject({
    type: 'response_start',
    modelId: 'claude-opus-5-5',
    providerId: 'claude-code',
    trigger: 'user',
  });
  expect(types(drafts).filter((type) => type === 'response_done')).toHaveLength(1);
  expect(drafts.at(-1)?.payload).toMatchObject({
    type: 'response_done',
    status: 'completed',
    finishReason: 'end_turn',
    usage: { inputTokens: 30, outputTokens: 15, contextTokens: 15, contextWindow: 1_000_000 },
  });
  expect((await respond('max-tokens')).outputItems).toHaveLength(3);
});

test.each(['end_turn', 'max_tokens', 'refusal', 'pause_turn', 'of_tomorrow'])(
  'FR-002-05, TC-3.3f: a turn that stops with %s is complete, with that reason',
  (reason) => {
    const { translator, drafts } = startTranslator();
    translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
    const result = { type: 'result', subtype: 'success', is_error: false, stop_reason: reason };
    translator.read(result, timestamp);
    expect(drafts.at(-1)?.payload).toMatchObject({
      type: 'response_done',
      status: 'completed',
      finishReason: reason,
    });
  },
);

test('TC-3.3f: a failed turn ends in an error with its code', async () => {
  const codes = ['error-400', 'error-401', 'error-429', 'error-529', 'error-connection'];
  const errors = await Promise.all(codes.map(async (name) => (await respond(name)).error));
  expect(errors.map((error) => error?.code)).toEqual([
    'INVALID_REQUEST',
    'AUTHENTICATION_FAILED',
    'RATE_LIMITED',
    'OVERLOADED',
    'CONNECTION_LOST',
  ]);
  expect(errors[0]?.message).toContain('The prompt is not acceptable.');
});

test('TC-3.3g: a result of an unknown call is shown', () => {
  const { translator, drafts } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Go.' });
  translator.read(
    { type: 'system', subtype: 'init', model: 'm', user_message_uuids: ['u'] },
    timestamp,
  );
  translator.read(
    {
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 'nobody', content: 'found', is_error: true }],
      },
    },
    timestamp,
  );
  expect(drafts.at(-1)?.payload).toMatchObject({
    type: 'item_done',
    finalItem: { type: 'function_call_output', callId: 'nobody', output: 'found', success: false },
  });
});

test('parallel tools have their outputs in the order in which they finish', async () => {
  const outputs = itemsOf(await respond('tools-parallel'), 'function_call_output');
  expect(outputs.map((output) => output.callId)).toEqual([
    'toolu_read',
    'toolu_quick',
    'toolu_slow',
  ]);
});

test('a tool that fails, does not exist or is refused has an error as its output', async () => {
  const failed = itemsOf(await respond('tool-bash-fails'), 'function_call_output')[0];
  expect(failed).toMatchObject({ success: false, output: 'broken', exitCode: 3 });
  expect(brief(await respond('tool-unknown'))[1]).toEqual({
    error: 'Error: No such tool available: Teleport',
  });
  expect(brief(await respond('tool-denied'))[1]).toEqual({ error: 'The user refused.' });
});

test('calls of file tools have their kind, locations and diffs', async () => {
  const edited = await respond('tool-edit');
  expect(itemsOf(edited, 'function_call')[1]).toMatchObject({
    kind: 'edit',
    title: 'Edit notes.txt',
    locations: [{ path: '/project/notes.txt' }],
    diffs: [{ path: '/project/notes.txt', oldText: 'two', newText: 'zwei' }],
  });
  expect(itemsOf(edited, 'function_call_output')[1]?.diffs).toEqual([
    {
      path: '/project/notes.txt',
      oldText: 'one\ntwo\nthree',
      newText: 'one\nzwei\nthree',
      oldLine: 1,
      newLine: 1,
    },
  ]);
  expect(itemsOf(await respond('tool-write'), 'function_call_output')[0]?.diffs).toEqual([
    { path: '/project/new.txt', oldText: null, newText: 'fresh\n' },
  ]);
});

test('a to-do list is the plan of the turn, not a tool', async () => {
  expect(brief(await respond('todo-write'))).toEqual([
    { plan: ['completed', 'in_progress', 'pending'] },
    { message: 'Planned.' },
  ]);
});

test('a to-do list that is changed entry by entry is a plan, and lasts longer than a turn', async () => {
  expect(brief(await respond('task-list'))).toEqual([
    { plan: ['completed', 'in_progress'] },
    { message: 'Under way.' },
  ]);
  const [plan] = itemsOf(await respond('task-list', 'turn-2'), 'plan');
  expect(plan?.entries).toEqual([
    { content: 'Look', status: 'completed', priority: 'medium' },
    { content: 'Leap', status: 'completed', priority: 'medium' },
  ]);
});

test.each(['retry-529', 'retry-429'])(
  'in the recording %s, an attempt without output adds no item',
  async (name) => {
    expect(brief(await respond(name))).toEqual([{ message: 'Finally.' }]);
  },
);

test('unfinished items of an abandoned attempt are withdrawn; finished items stay', async () => {
  expect(brief(await respond('retry-cut'))).toEqual([
    { reasoning: 'Partial thought.' },
    { message: 'The whole text.' },
  ]);
  expect(brief(await respond('retry-cut-early'))).toEqual([{ message: 'The whole text.' }]);
  expect(brief(await respond('retry-cut-tool'))).toEqual([
    { message: 'I will look.' },
    { message: 'I did not look.' },
  ]);
  expect(types((await replay('retry-cut')).drafts)).toContain('item_cancelled');
});

test('impossible numbers of tokens are left out', async () => {
  const negative = (line: unknown): unknown =>
    JSON.parse(
      JSON.stringify(line).replace(
        /"(\w*[tT]okens|contextWindow)":\d+/g,
        (_, name) => `"${name}":-7`,
      ),
    );
  const { drafts } = await replay('text', undefined, negative);
  const stored = Response.safeParse(foldTurns(drafts).get('turn-1'));
  expect(stored.error).toBeUndefined();
  expect(stored.data?.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
});

test('an answer that arrives whole after a broken stream is shown once', async () => {
  expect(brief(await respond('fallback'))).toEqual([
    { reasoning: 'Whole thought.' },
    { message: 'Whole text.' },
    { call: 'Run echo whole' },
    { output: 'whole' },
    { message: 'Done.' },
  ]);
});

test('an interrupted turn is cancelled and keeps its messages', async () => {
  const turns = foldTurns((await replay('interrupt-text')).drafts);
  expect(turns.get('turn-1')).toMatchObject({
    status: 'aborted',
    usage: { inputTokens: 10, outputTokens: 4 },
  });
  expect(brief(turns.get('turn-1')!)).toEqual([{ message: 'Half a sent' }]);
  expect(turns.get('turn-2')).toMatchObject({ status: 'complete' });
  expect(types((await replay('interrupt-text')).drafts)).toContain('turn_aborted_by_user');
});

test.each(['interrupt-tool', 'interrupt-permission'])(
  'in the recording %s, the tool ends as an error',
  async (name) => {
    const response = await respond(name);
    expect(response.status).toBe('aborted');
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
  },
);

test('a subagent’s items belong to the call that started the subagent, and its report is the output of that call', async () => {
  expect(brief(await respond('subagent'))).toEqual([
    { message: 'Delegating.' },
    { call: 'Delegate: Inspect the notes' },
    { reasoning: 'I should read it.', in: 'toolu_0001_1' },
    { message: 'Looking.', in: 'toolu_0001_1' },
    { call: 'Read notes.txt', in: 'toolu_0001_1' },
    { output: '1\tone\n2\ttwo\n3\t', in: 'toolu_0001_1' },
    { message: 'Two lines.', in: 'toolu_0001_1' },
    { output: 'Two lines.' },
    { message: 'The agent says two lines.' },
  ]);
  const parents = itemsOf(await respond('subagents-parallel'), 'function_call').map(
    (call) => call.parentCallId,
  );
  expect(parents).toEqual([undefined, undefined, 'toolu_0001_0', 'toolu_0001_1']);
});

test('a finished background task begins a turn with the task’s end as its reason', async () => {
  const turns = foldTurns((await replay('background-command')).drafts);
  expect([...turns.keys()]).toEqual(['turn-1', 'unasked-1']);
  expect(turns.get('unasked-1')).toMatchObject({
    trigger: 'agent',
    status: 'complete',
    outputItems: [
      {
        origin: 'system',
        content: 'Background command "sleep 1; echo finished" completed (exit code 0)',
      },
      { origin: 'agent', content: 'It has finished.' },
    ],
  });
});

test('messages of a background subagent between turns are shown in the next turn', async () => {
  const turns = foldTurns((await replay('background-agent')).drafts);
  expect(turns.get('unasked-1')?.outputItems).toMatchObject([
    { content: 'The background task “Inspect the notes” is done.', origin: 'system' },
    { content: 'Slow result.', parentCallId: 'toolu_0001_0' },
    { content: 'It came back.' },
  ]);
});

test('cost is the session’s total, summed over its turns and across /clear', async () => {
  const cost = async (name: string): Promise<number[]> =>
    [...foldTurns((await replay(name)).drafts).values()].map((turn) =>
      Math.round(turn.usage!.costUsd! * 1e6),
    );
  expect(await cost('two-turns')).toEqual([140, 280]);
  expect(await cost('clear')).toEqual([140, 140, 280]);
});

test('commands that Claude Code answers itself become turns', async () => {
  expect(itemsOf(await respond('slash-command'), 'message')[1]?.content).toContain(
    '## Context Usage',
  );
});

const failure = { code: 'PROCESS_CRASH', message: 'Claude Code was killed.' };

test('a crash ends the turn as an error and keeps its messages', async () => {
  const { translator, drafts } = await replay('text', (entry) =>
    JSON.stringify(entry).includes('"he scr"'),
  );
  translator.end({ type: 'response_error', error: failure }, timestamp);
  const response = foldTurns(drafts).get('turn-1')!;
  expect(response).toMatchObject({ status: 'error', error: failure });
  expect(response.outputItems[1]).toMatchObject({ content: 'Hello from t', error: failure });
});

test('a sent message that the agent has not begun has a turn, which ends with the agent', () => {
  const { translator, drafts } = startTranslator();
  const given = { uuid: 'u', turnId: 'turn-2', text: 'Wait.' };
  translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
  translator.expect(given);
  translator.end({ type: 'response_error', error: failure }, timestamp);
  translator.end({ type: 'response_error', error: failure }, timestamp);
  const turns = foldTurns(drafts);
  expect([...turns.keys()]).toEqual(['unasked-1', 'turn-2']);
  expect(turns.get('turn-2')).toMatchObject({ status: 'error', error: failure, trigger: 'user' });
  expect(itemsOf(turns.get('turn-2')!, 'message')).toMatchObject([
    { origin: 'user', content: 'Wait.' },
  ]);
});

test('a crash during a call gives the call an error output', async () => {
  const isResult = (entry: unknown): boolean => JSON.stringify(entry).includes('"tool_result"');
  const { translator, drafts } = await replay('tool-bash', isResult);
  translator.end({ type: 'response_error', error: failure }, timestamp);
  expect(brief(foldTurns(drafts).get('turn-1')!)).toEqual([
    { call: 'Run echo out && echo err >&2' },
    { error: 'Claude Code was killed.' },
  ]);
});

test('an approval waits until it is answered, or ends with its turn', () => {
  const { translator, drafts } = startTranslator();
  const approval = { title: 'Run it?', options: [], callId: 'c' };
  translator.openApproval({ ...approval, approvalId: 'a' }, timestamp);
  translator.closeApproval('a', { outcome: 'selected', optionId: 'allow' }, timestamp);
  translator.openApproval({ ...approval, approvalId: 'b' }, timestamp);
  translator.end({ type: 'response_done', status: 'cancelled' }, timestamp);
  const outcomes = itemsOf(foldTurns(drafts).get('unasked-1')!, 'approval').map(
    (item) => item.outcome,
  );
  expect(outcomes).toMatchObject([
    { outcome: 'selected', optionId: 'allow' },
    { outcome: 'cancelled' },
  ]);
});

test('unknown messages are kept as `raw` of the next item', () => {
  const { translator, drafts } = startTranslator();
  const odd = { type: 'hologram', beam: 1 };
  const block = { type: 'hologram_block', beam: 2 };
  translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
  for (const message of [
    odd,
    { type: 'stream_event', event: { type: 'new' } },
    null,
    7,
    { type: 'prompt_suggestion' },
  ]) {
    translator.read(message, timestamp);
  }
  translator.read(
    {
      type: 'assistant',
      message: { id: 'm', model: 'm', content: [block, { type: 'text', text: 'Hi.' }] },
    },
    timestamp,
  );
  expect(drafts.at(-1)?.payload).toMatchObject({
    finalItem: { content: 'Hi.', raw: expect.arrayContaining([odd, block]) },
  });
});

test('a message that replaces others withdraws them', () => {
  const { translator, drafts } = startTranslator();
  const say = (uuid: string, text: string, supersedes?: string[]): void =>
    translator.read(
      {
        type: 'assistant',
        uuid,
        supersedes,
        message: { id: uuid, model: 'm', content: [{ type: 'text', text }] },
      },
      timestamp,
    );
  say('1', 'Refused halfway');
  say('2', 'Said properly.', ['1']);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  expect(drafts.map(({ payload }) => payload)).toContainEqual(
    expect.objectContaining({ type: 'item_cancelled', reason: 'superseded' }),
  );
  expect(foldTurns(drafts).get('unasked-1')?.outputItems).toMatchObject([
    { content: 'Said properly.' },
  ]);
});

test('if the agent begins to answer a user’s message during a turn of its own, the message’s turn starts at once', () => {
  const { translator, drafts } = startTranslator();
  translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Me too.' });
  translator.read(
    { type: 'system', subtype: 'status', status: 'requesting', user_message_uuids: ['u'] },
    timestamp,
  );
  expect(drafts.map((draft) => `${draft.turnId} ${draft.payload.type}`)).toEqual([
    'unasked-1 response_start',
    'unasked-1 response_done',
    'turn-1 response_start',
    'turn-1 item_start',
    'turn-1 item_done',
  ]);
});

const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
const say = (id: string, text: string, more: object = {}) => ({
  type: 'assistant',
  message: { id, model: 'm', content: [{ type: 'text', text }] },
  ...more,
});

test('messages that the agent begins together have separate turns', () => {
  const { translator, drafts, send } = startTranslator();
  for (const uuid of ['u', 'v']) translator.expect({ uuid, turnId: `turn-${uuid}`, text: uuid });
  send({ ...requesting, user_message_uuids: ['nobody', 'u', 'v'] });
  expect(translator.turn).toMatchObject({ turnId: 'turn-v', trigger: 'user' });
  expect(foldTurns(drafts).get('turn-u')).toMatchObject({ status: 'complete' });
});

test('a message begins only one turn', () => {
  const { translator, drafts, send } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Go.' });
  send({ ...requesting, user_message_uuid: 'u' }, { ...say('m', 'Hi.'), user_message_uuid: 'u' });
  expect(types(drafts).filter((type) => type === 'response_start')).toHaveLength(1);
});

test.each([
  { type: 'user', message: { content: [] }, user_message_uuid: 'u' },
  { type: 'command_lifecycle', command_uuid: 'u', state: 'started', user_message_uuid: 'u' },
  { type: 'command_lifecycle', command_uuid: 'other', state: 'cancelled' },
  { type: 'stream_event', event: { type: 'ping' } },
])('%j does not begin the turn of a sent message', (message) => {
  const { translator, drafts, send } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Go.' });
  send(message);
  expect(drafts).toEqual([]);
});

test('a turn’s model is the model that Claude Code reported last', () => {
  const { drafts, send } = startTranslator();
  const result = { type: 'result', subtype: 'success', is_error: false };
  send(requesting, result, { type: 'system', subtype: 'init', model: 'large' }, requesting, result);
  send({ type: 'system', subtype: 'status', model: 'small' }, requesting);
  const models = drafts.flatMap(({ payload }) =>
    payload.type === 'response_start' ? [payload.modelId] : [],
  );
  expect(models).toEqual(['unknown', 'large', 'large']);
});

test('each event has the time of its message', () => {
  const { translator, drafts } = startTranslator();
  const at = (second: number) => new Date(second * 1_000).toISOString();
  translator.read(requesting, at(1));
  translator.read(say('m', 'Hi.'), at(2));
  translator.openApproval({ approvalId: 'a', title: 'May I?', options: [] }, at(3));
  translator.closeApproval('a', { outcome: 'cancelled' }, at(4));
  translator.stop(at(5));
  translator.end({ type: 'response_done', status: 'cancelled' }, at(6));
  const times = drafts.map((draft) => Date.parse(draft.timestamp) / 1_000);
  expect(times).toEqual([1, 2, 2, 3, 4, 5, 6]);
});

test('a turn without a reported cost has no cost', () => {
  const { drafts, send } = startTranslator();
  send(requesting, { type: 'result', subtype: 'success', is_error: false });
  expect(drafts.at(-1)?.payload).not.toHaveProperty('usage.costUsd');
});

test('a notice during a turn is a system message, and an unknown message is kept', () => {
  const { translator, drafts, send } = startTranslator();
  const odd = { type: 'system', subtype: 'hologram' };
  const notice = { type: 'system', subtype: 'notification', text: 'Look here.' };
  send(odd, notice, requesting, odd, { type: 'prompt_suggestion' }, notice);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  expect(foldTurns(drafts).get('unasked-1')?.outputItems).toMatchObject([
    { origin: 'system', content: 'Look here.', raw: [odd] },
  ]);
});

test('a message that the agent completes without an answer has a complete turn', () => {
  const { translator, drafts, send } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Go.' });
  const done = { type: 'command_lifecycle', command_uuid: 'u', state: 'completed' };
  send(done, done);
  expect(foldTurns(drafts).get('turn-1')).toMatchObject({
    status: 'complete',
    outputItems: [{ content: 'Go.' }],
  });
  expect(types(drafts).filter((type) => type === 'response_done')).toHaveLength(1);
});

test('a message that the agent drops has a cancelled turn', () => {
  const { translator, drafts } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Never mind.' });
  translator.read({ type: 'command_lifecycle', command_uuid: 'u', state: 'cancelled' }, timestamp);
  expect(drafts.at(-1)).toMatchObject({
    turnId: 'turn-1',
    payload: { type: 'response_done', status: 'cancelled' },
  });
});

test.each(['constructor', 'toString', '__proto__'])(
  'SAFE: the name of an inherited property (%s) is not a known name',
  (word) => {
    const { translator, drafts } = startTranslator();
    translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
    translator.read({ type: 'system', subtype: word }, timestamp);
    const refused = { id: 'm', model: 'm', content: [] };
    translator.read({ type: 'assistant', error: word, message: refused }, timestamp);
    translator.read({ type: 'result', subtype: word, is_error: true }, timestamp);
    const error = { code: 'AGENT_ERROR', message: 'Claude Code reported an error.' };
    expect(drafts.at(-1)?.payload).toMatchObject({ type: 'response_error', error });
  },
);

test.each([
  [{ error: 'rate_limit' }, 'RATE_LIMITED'],
  [{ is_api_error_message: true, error: 'rate_limit' }, 'RATE_LIMITED'],
  [{ is_api_error_message: true }, 'AGENT_ERROR'],
])(
  'an API error in the form of an answer (%j) is not shown as an answer, and ends the turn with %s',
  (marks, code) => {
    const { translator, drafts } = startTranslator();
    translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
    const content = [{ type: 'text', text: 'API Error: slow down' }];
    const message = { id: 'm', model: 'm', content };
    translator.read({ type: 'assistant', ...marks, message }, timestamp);
    translator.read({ type: 'result', subtype: 'success', is_error: true }, timestamp);
    const [response] = foldTurns(drafts).values();
    expect(response).toMatchObject({ status: 'error', error: { code } });
    expect(response?.outputItems).toEqual([]);
  },
);

test('an answer that is marked as not being an API error is shown', () => {
  const { translator, drafts } = startTranslator();
  const message = { id: 'm', model: 'm', content: [{ type: 'text', text: 'Hi.' }] };
  translator.read({ type: 'assistant', is_api_error_message: false, message }, timestamp);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  const [response] = foldTurns(drafts).values();
  expect(response?.outputItems).toMatchObject([{ content: 'Hi.' }]);
});

test('SAFE: a call and a result with empty ids conform to the schema', () => {
  const { translator, drafts } = startTranslator();
  const call = { type: 'tool_use', id: '', name: 'Bash', input: {} };
  const message = { id: 'm', model: 'm', content: [call] };
  translator.read({ type: 'assistant', message }, timestamp);
  const result = { type: 'tool_result', tool_use_id: '', content: 'x' };
  translator.read({ type: 'user', message: { content: [result] } }, timestamp);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  const [response] = foldTurns(drafts).values();
  expect(Response.safeParse(response).error?.issues).toBeUndefined();
  expect(response?.outputItems).toHaveLength(2);
});

test('SAFE: the number of subagents’ messages that wait for the next turn is bounded', () => {
  const { translator, drafts } = startTranslator();
  for (let n = 0; n < 1_200; n += 1) {
    const content = [{ type: 'text', text: `${n}` }];
    const message = { id: `${n}`, model: 'm', content };
    translator.read({ type: 'assistant', parent_tool_use_id: 'call', message }, timestamp);
  }
  expect(drafts).toEqual([]);
  translator.read(say('last', 'Hi.'), timestamp);
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  const [response] = foldTurns(drafts).values();
  expect(response?.outputItems).toHaveLength(1_001);
  expect(response?.outputItems.slice(0, 2)).toMatchObject([{ content: '0' }, { content: '1' }]);
  expect(response?.outputItems.at(-1)).toMatchObject({ content: 'Hi.', raw: [{ omitted: 200 }] });
});

test('a turn that stops at the step limit is complete, and shows the reason', () => {
  const { translator, drafts } = startTranslator();
  translator.read({ type: 'system', subtype: 'status', status: 'requesting' }, timestamp);
  const reached = { type: 'result', subtype: 'error_max_turns', is_error: true };
  const errors = ['Reached maximum number of turns (3)'];
  translator.read({ ...reached, terminal_reason: 'max_turns', errors }, timestamp);
  const response = foldTurns(drafts).get('unasked-1');
  expect(response).toMatchObject({ status: 'complete', finishReason: 'max_turn_requests' });
  expect(response?.outputItems).toMatchObject([{ origin: 'system', content: errors[0] }]);
});

test('repetitive text is shown exactly, with periods of 1 to 60 in chunks of 1 to 10', async () => {
  const { entries } = await loadClaudeRecording('text');
  const isDelta = (entry: object): boolean =>
    'sdk' in entry && JSON.stringify(entry).includes('"content_block_delta"');
  const first = entries.findIndex(isDelta);
  const last = entries.findLastIndex(isDelta);
  const delta = JSON.stringify(entries[first]);
  const lost = periodicTexts.flatMap(({ period, size, text, chunks }) => {
    const says = (line: string, from: string, to: string): unknown =>
      JSON.parse(line.replaceAll(JSON.stringify(from), () => JSON.stringify(to)));
    const told = entries.slice(last + 1).map((entry) => JSON.stringify(entry));
    const { translator, drafts } = startTranslator();
    translator.expect({ uuid: uuidOf(entries[0]), text, turnId: 'turn' });
    const all = [
      ...entries.slice(1, first),
      ...chunks.map((chunk) => says(delta, 'Hello ', chunk)),
      ...told.map((line) => says(line, 'Hello from the scripted model.', text)),
    ] as { sdk: unknown }[];
    for (const { sdk } of all) translator.read(sdk, timestamp);
    const said = foldTurns(drafts)
      .get('turn')
      ?.outputItems.map((item) => 'content' in item && item.content);
    return said?.length === 2 && said.every((one) => one === text) ? [] : [{ period, size, said }];
  });
  expect(lost).toEqual([]);
});

const uuidOf = (entry: unknown): string => (entry as { host: { uuid: string } }).host.uuid;
