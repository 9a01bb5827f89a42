import { emptyResponse, foldResponse, stampEvent, toResponse } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { translateTranscript } from './transcript-turns.ts';
import { readTranscript } from './transcript.ts';

/** The turns of entries whose times are a second apart. */
function turnsOf(entries: object[], subagents: Record<string, object[]> = {}) {
  const timed = entries.map((entry, at) => ({
    uuid: `u${at}`,
    timestamp: new Date(at * 1_000).toISOString(),
    ...entry,
  }));
  const inner = Object.entries(subagents).map(
    ([callId, said]) => [callId, readTranscript(said)] as const,
  );
  return translateTranscript(readTranscript(timed), new Map(inner), '/project').map(
    ({ turnId, events }) => {
      const run = {
        sessionId: 's',
        runId: turnId,
        traceContext: { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` },
      };
      const state = events.reduce(
        (folded, draft, seq) => foldResponse(folded, stampEvent(draft, run, seq)),
        emptyResponse(),
      );
      return toResponse(state);
    },
  );
}

const user = (content: unknown, more: object = {}) => ({
  type: 'user',
  message: { content },
  ...more,
});
const assistant = (content: unknown, message: object = {}) => ({
  type: 'assistant',
  message: { id: 'm', model: 'model-1', content, ...message },
});
const text = (words: string) => [{ type: 'text', text: words }];

test('each user message begins a turn with its id, model, time and text', () => {
  const turns = turnsOf([
    user('One?'),
    assistant(text('One.')),
    user(text('Two?')),
    assistant(text('Two.'), { id: 'm2', model: 'model-2' }),
  ]);
  expect(turns).toMatchObject([
    {
      id: 'u0',
      trigger: 'user',
      modelId: 'model-1',
      createdAt: 0,
      status: 'complete',
      finishReason: 'end_turn',
    },
    { id: 'u2', trigger: 'user', modelId: 'model-2', createdAt: 2_000 },
  ]);
  expect(turns.map((turn) => turn?.outputItems)).toMatchObject([
    [
      { origin: 'user', content: 'One?' },
      { origin: 'agent', content: 'One.' },
    ],
    [
      { origin: 'user', content: 'Two?' },
      { origin: 'agent', content: 'Two.' },
    ],
  ]);
});

test.each([
  '[Request interrupted by user]',
  'This session is being continued from a previous conversation that ran out of context.',
  'Your response above was cut off mid-stream.',
  'Output token limit hit. Go on.',
  '[Your previous response had no visible output.]',
  '',
])('Claude Code’s text in the user’s name begins no turn: %s', (words) => {
  expect(turnsOf([user('One?'), user(words), assistant(text('One.'))])).toHaveLength(1);
  expect(turnsOf([user(words)])).toEqual([]);
});

test('text that is only for the model begins no turn', () => {
  expect(turnsOf([user('For the model.', { isMeta: true })])).toEqual([]);
});

test.each([
  ['an answer', [assistant(text('Hm.'))], 'Hm.'],
  ['the output of a command', [user('<local-command-stdout>out</local-command-stdout>')], 'out'],
])('without its preceding message, %s is shown in a turn of the agent', (_, entries, shown) => {
  const turns = turnsOf(entries);
  expect(turns).toMatchObject([{ trigger: 'agent', outputItems: [{ content: shown }] }]);
});

test('a command of the user’s shell is shown with its output', () => {
  const printed = '<bash-stdout>a.txt</bash-stdout><bash-stderr>no b.txt</bash-stderr>';
  const [turn] = turnsOf([user('<bash-input>ls a.txt b.txt</bash-input>'), user(printed)]);
  expect(turn?.outputItems).toMatchObject([
    { origin: 'user', content: '! ls a.txt b.txt' },
    { origin: 'system', content: 'a.txt\nno b.txt' },
  ]);
});

test('a user’s text that mentions Claude Code’s markers stays a user message', () => {
  expect(turnsOf([user('See <bash-input> and [Request interrupted by user].')])).toHaveLength(1);
});

test.each([
  ['<command-name>/review</command-name>', '/review'],
  ['<command-name>/review</command-name><command-args> a\nb </command-args>', '/review  a\nb'],
])('a command is shown as typed: %s', (words, shown) => {
  expect(turnsOf([user(words)])[0]?.outputItems).toMatchObject([{ content: shown }]);
});

test('the report of a background task begins a turn of the agent with the report as its reason', () => {
  const notice = (inside: string) => user(`<task-notification>${inside}</task-notification>`);
  const answer = assistant(text('It is done.'));
  const summary = '<status>completed</status>\n<summary>\nThe build is over.\n</summary>';
  expect(turnsOf([notice(summary), answer])).toMatchObject([
    {
      trigger: 'agent',
      outputItems: [
        { content: 'The build is over.', origin: 'system' },
        { content: 'It is done.', origin: 'agent' },
      ],
    },
  ]);
  expect(turnsOf([notice('done'), answer])).toMatchObject([
    { trigger: 'agent', outputItems: [{ content: 'It is done.' }] },
  ]);
});

test('an interrupted turn is cancelled', () => {
  const [turn] = turnsOf([
    user('Talk.'),
    assistant(text('Half')),
    user('[Request interrupted by user]'),
  ]);
  expect(turn).toMatchObject({ status: 'aborted', finishReason: 'cancelled' });
});

test('a turn in which the agent’s answer mentions an interrupt is not cancelled', () => {
  const [turn] = turnsOf([user('Quote it.'), assistant(text('[Request interrupted by user]'))]);
  expect(turn).toMatchObject({ status: 'complete', finishReason: 'end_turn' });
});

test('an error that Claude Code sends in the model’s name ends the turn as an error, and is not an answer', () => {
  const synthetic = { model: '<synthetic>' };
  const [turn] = turnsOf([user('Talk.'), assistant(text('The API is away.'), synthetic)]);
  expect(turn).toMatchObject({
    status: 'error',
    modelId: 'unknown',
    error: { code: 'AGENT_ERROR', message: 'The API is away.' },
  });
  expect(turn?.outputItems).toHaveLength(1);
  const [silent] = turnsOf([user('Talk.'), assistant(text(''), synthetic)]);
  expect(silent).toMatchObject({ status: 'complete' });
});

test('usage is counted once per answer, even if it has several entries', () => {
  const usage = { input_tokens: 3, output_tokens: 5 };
  const [turn] = turnsOf([
    user('Talk.'),
    assistant(text('One.'), { usage }),
    assistant(text('Two.'), { usage }),
    assistant(text('Three.'), { id: 'm2', usage: { input_tokens: 10, output_tokens: 20 } }),
    assistant(text('Four.'), { id: 'm3' }),
  ]);
  expect(turn?.usage).toEqual({ inputTokens: 13, outputTokens: 25 });
});

test('a turn that no person began shows its origin, and a message in a turn that no person sent shows its origin', () => {
  const origin = { kind: 'peer', from: 's2' };
  const why = 'Another session sent a message: “s2”.';
  const queued = { type: 'queued_command', prompt: 'Psst.', origin };
  const [first, second, third] = turnsOf([
    user('Go on.', { origin: { kind: 'auto-continuation' } }),
    assistant(text('On it.')),
    user('Hi.', { origin }),
    { type: 'attachment', attachment: queued },
    user('Hello.', { origin: { kind: 'human' } }),
  ]);
  expect(first).toMatchObject({
    trigger: 'agent',
    outputItems: [
      { origin: 'system', content: 'Claude Code went on by itself.' },
      { content: 'On it.' },
    ],
  });
  expect(second).toMatchObject({
    trigger: 'agent',
    outputItems: [{ content: `${why}\n\nHi.` }, { content: `${why}\n\nPsst.` }],
  });
  expect(third).toMatchObject({ trigger: 'user', outputItems: [{ content: 'Hello.' }] });
});

test('a compaction becomes a notice; other system entries become no notice', () => {
  const [turn] = turnsOf([
    user('Talk.'),
    { type: 'system', subtype: 'compact_boundary' },
    { type: 'system', subtype: 'turn_duration' },
  ]);
  expect(turn?.outputItems.slice(1)).toMatchObject([
    { origin: 'system', content: 'The conversation so far was summarised to make room.' },
  ]);
});

test('a subagent’s messages follow the call that started the subagent, and belong to that call', () => {
  const call = { type: 'tool_use', id: 'call-1', name: 'Task', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'call-1', content: 'Looked.' };
  const inner = { ...assistant(text('I look.'), { id: 'inner' }), uuid: 'i' };
  const [turn] = turnsOf([user('Look.'), assistant([call]), user([result])], { 'call-1': [inner] });
  expect(turn?.outputItems.slice(1)).toMatchObject([
    { type: 'function_call', callId: 'call-1' },
    { type: 'message', content: 'I look.', parentCallId: 'call-1' },
    { type: 'function_call_output', callId: 'call-1', output: 'Looked.' },
  ]);
});

test('an unreadable entry is left out, and an entry without a time has the previous entry’s time', () => {
  const [turn] = turnsOf([
    user('Talk.'),
    { type: 'hologram' },
    assistant(text('One.')),
    { ...assistant(text('Two.'), { id: 'm2' }), timestamp: undefined },
  ]);
  expect(turn?.outputItems.map(({ startedAt }) => Date.parse(startedAt ?? ''))).toEqual([
    0, 2_000, 2_000,
  ]);
});

test('a user’s text in several blocks is one message of several lines; other blocks are left out', () => {
  const image = { type: 'image', source: 'x' };
  const [turn] = turnsOf([user([...text('One'), image, { type: 'text' }, ...text('two')])]);
  expect(turn?.outputItems).toMatchObject([{ content: 'One\n\ntwo', origin: 'user' }]);
});

test('an error before a later answer is a notice, not the turn’s end', () => {
  const failed = assistant(text('The API is away.'), { model: '<synthetic>' });
  const [turn] = turnsOf([user('Talk.'), failed, assistant(text('Hi.'), { id: 'm2' })]);
  expect(turn).toMatchObject({ status: 'complete', modelId: 'model-1' });
  expect(turn?.outputItems.slice(1)).toMatchObject([
    { origin: 'system', content: 'The API is away.' },
    { content: 'Hi.' },
  ]);
});

test('an error ends the turn even if an entry in the user’s name follows', () => {
  const failed = assistant(text('The API is away.'), { model: '<synthetic>' });
  const [turn] = turnsOf([user('Talk.'), failed, user('<bash-stdout>x</bash-stdout>')]);
  expect(turn).toMatchObject({ error: { message: 'The API is away.' } });
});

test('a nested subagent’s messages follow the call that started the nested subagent', () => {
  const sent = (id: string) => [{ type: 'tool_use', id, name: 'Task', input: {} }];
  const [turn] = turnsOf([user('Look.'), assistant(sent('a'))], {
    a: [{ ...assistant(sent('b'), { id: 'i' }), uuid: 'i' }],
    b: [{ ...assistant(text('I look.'), { id: 'j' }), uuid: 'j' }],
  });
  const parents = turn?.outputItems.slice(1, 4).map((item) => [item.type, item.parentCallId]);
  expect(parents).toEqual([
    ['function_call', undefined],
    ['function_call', 'a'],
    ['message', 'b'],
  ]);
});

test('a to-do list lasts longer than a turn', () => {
  const create = { type: 'tool_use', id: 'c', name: 'TaskCreate', input: {} };
  const done = { taskId: '1', status: 'completed' };
  const update = { type: 'tool_use', id: 'd', name: 'TaskUpdate', input: done };
  const made = 'Task #1 created successfully: Look';
  const [, second] = turnsOf([
    user('Plan.'),
    assistant([create]),
    user([{ type: 'tool_result', tool_use_id: 'c', content: made }]),
    user('Do it.'),
    assistant([update], { id: 'm2' }),
  ]);
  expect(second?.outputItems[1]).toMatchObject({
    type: 'plan',
    entries: [{ content: 'Look', status: 'completed' }],
  });
});

test('a message’s attachments are included, with or without text', () => {
  const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw==' };
  const image = { type: 'image', source };
  const notes = {
    type: 'document',
    title: 'notes.md',
    source: { type: 'text', media_type: 'text/plain', data: '# Ä' },
  };
  const plan = { type: 'document', source: { ...source, media_type: 'application/pdf' } };
  const odd = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } };
  const turns = turnsOf([
    user([...text('Look.'), image, notes, plan, odd]),
    assistant(text('Seen.')),
    user([image]),
    assistant([{ type: 'tool_use', id: 't', name: 'Shot', input: {} }], { id: 'm2' }),
    user([{ type: 'tool_result', tool_use_id: 't', content: [image] }]),
  ]);
  const shown = { type: 'image', mimeType: 'image/png', data: 'iVBORw==' };
  expect(turns.map((turn) => turn?.outputItems[0])).toMatchObject([
    {
      content: 'Look.',
      blocks: [
        shown,
        { type: 'resource', resource: { name: 'notes.md', mimeType: 'text/plain', text: '# Ä' } },
        { type: 'resource', resource: { mimeType: 'application/pdf', blob: 'iVBORw==' } },
      ],
    },
    { content: '', blocks: [shown] },
  ]);
});
