import { codexRecordingNames, loadCodexRecording } from '@liminal/testkit';
import { StreamEvent, stampEvent, type EventDraft } from '@liminal/protocol';
import { expect, test } from 'vitest';
import {
  brokenRules,
  foldTurn,
  itemsOf,
  payloadsOf,
  saidIn,
  turnIdsOf,
} from '../../src/testing/folding.ts';
import { periodicTexts } from '../../src/testing/periodic-texts.ts';
import { playRecording, type RecordedSession } from './play-recording.ts';

/** The recorder sent a prompt while another was open, which Liminal never does. */
const names = (await codexRecordingNames()).filter((name) => name !== 'prompts-together');
const run = { sessionId: 's', runId: 'r', traceContext: { traceparent: '00' } };

const play = async (name: string): Promise<RecordedSession[]> =>
  playRecording(await loadCodexRecording(name));

/** Every turn of a recording, live and from history. */
const turnsIn = (sessions: RecordedSession[]): { turnId: string; drafts: EventDraft[] }[] =>
  sessions.flatMap(({ drafts, history }) => [
    ...turnIdsOf(drafts).map((turnId) => ({ turnId, drafts })),
    ...history.map(({ turnId, events }) => ({ turnId, drafts: events })),
  ]);

async function responses(name: string) {
  return turnsIn(await play(name)).map(({ turnId, drafts }) => foldTurn(drafts, turnId));
}

async function first(name: string) {
  const [response] = await responses(name);
  return response!;
}

const outputIn = async (name: string) => itemsOf(await first(name), 'function_call_output')[0];

test('all important cases have recordings', () => {
  expect(names.length).toBeGreaterThan(50);
});

test.each(names)(
  '%s: INV-2, INV-3: valid turns, each with one start and one end, and every item ended before it',
  async (name) => {
    const sessions = await play(name);
    expect(sessions.map(({ translator }) => translator.turn)).toEqual(
      sessions.map(() => undefined),
    );
    for (const { turnId, drafts } of turnsIn(sessions)) {
      expect(brokenRules(payloadsOf(drafts, turnId))).toEqual([]);
      const events = drafts.map((draft, seq) => StreamEvent.safeParse(stampEvent(draft, run, seq)));
      expect(events.flatMap(({ error }) => error ?? [])).toEqual([]);
    }
  },
);

test.each(names)('%s: every call is answered, and only calls are', async (name) => {
  for (const response of await responses(name)) {
    const called = itemsOf(response, 'function_call').map(({ callId }) => callId);
    const answered = itemsOf(response, 'function_call_output').map(({ callId }) => callId);
    expect(answered.toSorted()).toEqual(called.toSorted());
  }
});

test.each(names)(
  '%s: nothing is said that cannot be shown, and no turn is Codex’s own',
  async (name) => {
    for (const response of await responses(name)) {
      expect(saidIn(response).filter(([origin]) => origin === 'system')).toEqual([]);
      expect(response.trigger).toBe('user');
    }
  },
);

test('TC-4.2a: a streamed answer is one message', async () => {
  const response = await first('text');
  expect(saidIn(response)).toEqual([['agent', 'Hello from the scripted model.']]);
  expect(response).toMatchObject({
    modelId: 'scripted',
    status: 'complete',
    finishReason: 'end_turn',
    usage: { contextTokens: 120, contextWindow: 95_000 },
  });
});

test('a long answer is whole', async () => {
  const lines = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n`);
  expect(saidIn(await first('text-long'))).toEqual([['agent', lines.join('')]]);
});

/** The repetition cannot be told from one that was meant. */
test('the parts of a thought are shown as often as Codex sends them', async () => {
  expect(saidIn(await first('reasoning-parts'))).toEqual([
    [
      'thought',
      '\n\n**One** first part\n\n**Two** second part\n\n**Three** third part**Two** second part**Three** third part',
    ],
    ['agent', 'Thought three times.'],
  ]);
});

test('a word that is said twice is told twice', async () => {
  expect(saidIn(await first('repeated-word'))).toEqual([['agent', 'Bye-byebye and and again']]);
});

test('an answer that broke off and was asked for again is told twice, since nothing marks it', async () => {
  expect(saidIn(await first('cut-once'))).toEqual([
    ['agent', 'Half of itHalf of it and the rest.'],
  ]);
});

test('what is said is told to the letter: periods of 1 to 60 in chunks of 1 to 10', async () => {
  const recording = await loadCodexRecording('text');
  const isChunk = (entry: object): boolean => JSON.stringify(entry).includes('agent_message_chunk');
  const at = recording.entries.findIndex(isChunk);
  const chunk = JSON.stringify(recording.entries[at]);
  const others = recording.entries.filter((entry) => !isChunk(entry));
  const lost = periodicTexts.flatMap(({ period, size, text, chunks }) => {
    const saying: typeof others = chunks.map((one) =>
      JSON.parse(chunk.replace(/"text":"[^"]*"/, () => `"text":${JSON.stringify(one)}`)),
    );
    const [session] = playRecording({ entries: others.toSpliced(at, 0, ...saying) });
    const said = saidIn(foldTurn(session?.drafts ?? [], 'turn-1'));
    return said.length === 1 && said[0]?.[1] === text ? [] : [{ period, size, said }];
  });
  expect(lost).toEqual([]);
});

test.each(['command', 'command-terminal'])(
  'TC-4.2b, TC-4.2c: %s: a command with its output',
  async (name) => {
    const response = await first(name);
    expect(itemsOf(response, 'function_call')).toMatchObject([
      {
        name: 'execute',
        kind: 'execute',
        title: 'echo hi',
        callId: 'call_0001_0',
        arguments: '{"command":["/bin/bash","-lc","echo hi"],"cwd":"/project"}',
      },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([
      { callId: 'call_0001_0', output: 'hi\n', success: true, exitCode: 0 },
    ]);
  },
);

test.each(['command-fails', 'command-fails-terminal'])(
  '%s: a command that fails tells its exit code',
  async (name) => {
    expect(await outputIn(name)).toMatchObject({ output: 'broken\n', success: false, exitCode: 3 });
  },
);

test('a call of an MCP tool stays what it is when it is asked for', async () => {
  const response = await first('mcp-tool-asked');
  const [call] = itemsOf(response, 'function_call');
  expect(call).toMatchObject({ title: 'Tool: greeter/greet' });
  expect(JSON.parse(call!.arguments)).toEqual({
    server: 'greeter',
    tool: 'greet',
    arguments: { name: 'Ada' },
  });
  expect(itemsOf(response, 'approval')[0]).toMatchObject({ title: 'Approve MCP tool call' });
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { output: 'Hello, Ada!', success: true },
    { success: false },
  ]);
});

test('a command’s output grows as it is printed', async () => {
  const [session] = await play('command-grows-terminal');
  const grown = session!.drafts.flatMap(({ payload }) =>
    payload.type === 'item_delta' && payload.itemId.includes(':output:')
      ? [payload.deltaContent]
      : [],
  );
  expect(grown.length).toBeGreaterThan(2);
  expect(grown.join('')).toBe((await outputIn('command-grows-terminal'))?.output);
});

test('a command’s output is not fenced', async () => {
  const outputs = await Promise.all(
    ['command-grows', 'command-background', 'command-input', 'commands-parallel'].map(outputIn),
  );
  expect(outputs.filter((output) => output?.output.includes('```'))).toEqual([]);
});

test('parallel commands have each its own output', async () => {
  const outputs = itemsOf(await first('commands-parallel'), 'function_call_output');
  expect(Object.fromEntries(outputs.map(({ callId, output }) => [callId, output]))).toEqual({
    call_quick: 'quick\n',
    call_slow: 'slow\n',
  });
});

test.each(['command-left-running', 'command-left-running-terminal'])(
  '%s: a command that outlives its turn ends with it, and does not come back',
  async (name) => {
    const [one, two] = await responses(name);
    expect(itemsOf(one!, 'function_call_output')).toMatchObject([{ success: true }]);
    expect(itemsOf(two!, 'function_call')).toEqual([]);
  },
);

test('a cancelled command is not a success', async () => {
  const response = await first('cancel-command');
  expect(response.status).toBe('aborted');
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: false }]);
});

test('a patch tells what it changed', async () => {
  const [call] = itemsOf(await first('patch-update'), 'function_call');
  expect(call).toMatchObject({
    kind: 'edit',
    locations: [{ path: '/project/notes.txt' }],
    diffs: [
      { path: '/project/notes.txt', oldText: 'one\ntwo\nthree\n', newText: 'one\nzwei\nthree\n' },
    ],
  });
  const [many] = itemsOf(await first('patch-many'), 'function_call');
  expect(many?.diffs).toHaveLength(3);
});

test('a plan is told as it changes', async () => {
  expect(itemsOf(await first('plan'), 'plan')).toMatchObject([
    {
      entries: [
        { content: 'Read the notes', status: 'completed' },
        { content: 'Change them', status: 'in_progress' },
      ],
    },
  ]);
});

test('an image that was looked at is shown', async () => {
  expect(await outputIn('view-image')).toMatchObject({ blocks: [{ type: 'resource_link' }] });
});

test('a permission that was given lets the call run that asked for it', async () => {
  const response = await first('permission-allowed');
  const [approval] = itemsOf(response, 'approval');
  const [call, ...others] = itemsOf(response, 'function_call');
  expect(others).toEqual([]);
  expect(approval).toMatchObject({
    callId: call?.callId,
    outcome: { outcome: 'selected', optionId: 'approved' },
  });
  expect(await outputIn('permission-allowed')).toMatchObject({ output: 'made\n', success: true });
});

test('a permission that was refused ends the call', async () => {
  expect(itemsOf(await first('permission-rejected'), 'approval')).toMatchObject([
    { outcome: { outcome: 'selected', optionId: 'abort' } },
  ]);
  expect(await outputIn('permission-rejected')).toMatchObject({
    output: 'The turn ended first.',
    success: false,
  });
});

test('a broken turn keeps what was said, and the next one works', async () => {
  const [broken, next] = await responses('failed-after-text');
  expect(broken).toMatchObject({ status: 'error' });
  expect(saidIn(broken!)).toEqual([['agent', 'Half ofHalf of']]);
  expect(saidIn(next!)).toEqual([['agent', 'Better now.']]);
});

test('settings and commands are told', async () => {
  const [session] = await play('settings');
  const options = session!.updates.flatMap(({ configOptions }) =>
    configOptions === undefined ? [] : [configOptions],
  );
  const categories = options.map((told) => told.map(({ category }) => category));
  expect(categories).toContainEqual(['mode', 'model', 'thought_level']);
  const models = options.map((told) => told.find(({ id }) => id === 'model')?.currentValue);
  expect(new Set(models)).toEqual(new Set(['scripted', 'scripted-mini']));
  const commands = session!.updates.flatMap((update) => update.commands ?? []);
  expect(commands).toContainEqual({
    name: 'review-branch',
    description: 'Review the code changes against a specific branch',
    hint: 'branch name',
  });
});

test('a loaded session tells its turns as they were told live', async () => {
  const [session] = await play('load');
  const { drafts, history } = session!;
  expect(history.map(({ turnId }) => turnId)).toHaveLength(2);
  const told = history.map(({ turnId, events }) => foldTurn(events, turnId));
  const live = turnIdsOf(drafts).map((turnId) => foldTurn(drafts, turnId));

  const words = told.map((response) => saidIn(response).filter(([origin]) => origin === 'agent'));
  expect(words).toEqual([
    [
      ['agent', 'Looking.'],
      ['agent', 'Changed.'],
    ],
    [
      ['agent', 'A second answer.'],
      ['agent', 'In two messages.'],
    ],
  ]);
  expect(told.map(({ outputItems }) => outputItems[0])).toMatchObject([
    { content: 'The first question.', origin: 'user' },
    { content: 'The second question.', origin: 'user' },
  ]);
  const facts = (response: (typeof live)[number]) =>
    itemsOf(response, 'function_call_output').map(({ callId, output, success }) => ({
      callId,
      output,
      success,
    }));
  expect(facts(told[0]!)).toEqual(facts(live[0]!));
  expect(itemsOf(told[0]!, 'plan')).toMatchObject([
    { entries: itemsOf(live[0]!, 'plan')[0]?.entries },
  ]);
  const kinds = itemsOf(told[0]!, 'function_call').map(({ kind, title }) => [kind, title]);
  expect(kinds).toEqual([
    ['execute', 'cat notes.txt'],
    ['execute', 'echo broken; exit 3'],
    ['edit', 'Edit notes.txt'],
  ]);
});

test('turns that were cut off are in the history too', async () => {
  const [session] = await play('load-cancelled');
  const told = session!.history.map(({ turnId, events }) => foldTurn(events, turnId));
  expect(told.map(({ outputItems }) => outputItems[0])).toMatchObject([
    { content: 'To be cancelled.' },
    { content: 'To be killed.' },
  ]);
});
