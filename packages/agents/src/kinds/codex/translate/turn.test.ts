import type { EventDraft, EventPayload } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { TurnWriter } from '../../../base/turn-writer.ts';
import { brokenRules, foldTurn, itemsOf, payloadsOf, textsIn } from '../../../testing/folding.ts';
import { periodicTexts } from '../../../testing/periodic-texts.ts';
import { CodexTurn } from './turn.ts';

type Notification = [method: string, params: Record<string, unknown>];

/** A turn in the thread `main`, begun by a person. */
function begun() {
  const drafts: EventDraft[] = [];
  const writer = new TurnWriter('turn', (draft) => drafts.push(draft));
  writer.at('2026-01-01T00:00:00.000Z');
  writer.begin({ modelId: 'scripted', providerId: 'codex', trigger: 'user' }, 'Go.');
  const turn = new CodexTurn(writer, '/project', 'main');
  return { drafts, writer, turn };
}

/** Returns the translation of a turn with these notifications and this end. */
function told(notifications: readonly Notification[], status = 'completed') {
  const { drafts, turn } = begun();
  for (const [method, params] of notifications) turn.read(method, params);
  turn.end({ id: 'native', status });
  expect(brokenRules(payloadsOf(drafts, 'turn'))).toEqual([]);
  return { response: foldTurn(drafts, 'turn'), payloads: payloadsOf(drafts, 'turn') };
}

const started = (item: object): Notification => ['item/started', { item }];
const completed = (item: object): Notification => ['item/completed', { item }];
const message = (id: string, text: string) => ({ type: 'agentMessage', id, text });
const delta = (itemId: string, text: string): Notification => [
  'item/agentMessage/delta',
  { itemId, delta: text },
];
const raw = (delta: string, contentIndex = 0): Notification => [
  'item/reasoning/textDelta',
  { itemId: 'a', delta, contentIndex },
];
const summed = (delta: string, summaryIndex = 0): Notification => [
  'item/reasoning/summaryTextDelta',
  { itemId: 'a', delta, summaryIndex },
];
const retrying: Notification = [
  'error',
  { willRetry: true, error: { message: 'Reconnecting... 1/5' } },
];

const cancelled = (payloads: readonly EventPayload[]) =>
  payloads.flatMap((one) => (one.type === 'item_cancelled' ? [[one.itemId, one.reason]] : []));

test('streamed text is exact: texts with periods of 1 to 60 in chunks of 1 to 10', () => {
  const lost = periodicTexts.flatMap(({ period, size, text, chunks }) => {
    const { response } = told([
      started(message('a', '')),
      ...chunks.map((chunk) => delta('a', chunk)),
      completed(message('a', text)),
    ]);
    const said = textsIn(response);
    return said.length === 1 && said[0]?.[1] === text ? [] : [{ period, size, said }];
  });
  expect(lost).toEqual([]);
});

test.each([
  { mode: 'show', version: 1, trustedContacts: 'skip' },
  { mode: 'hide', version: 1, replacement: { kind: 'wellbeingPromptHelpline' } },
  { mode: 'block', version: 1, reason: { kind: 'protection', protectionType: 'x' } },
  { action: 'block', blockType: 'x' },
])(
  'an answer with the moderation “$mode” for ChatGPT’s clients is shown, as in Codex’ terminal',
  (display) => {
    const moderation = { moderated: true, display };
    const { response } = told([
      delta('a', 'Hello.'),
      completed({ ...message('a', 'Hello.'), moderation }),
    ]);
    expect(textsIn(response)).toEqual([['agent', 'Hello.']]);
  },
);

test('a message starts with its first text or as a whole; a started message without text is not shown', () => {
  const { response, payloads } = told([
    started(message('a', '')),
    started(message('b', '')),
    delta('b', 'Second'),
    delta('b', ' words.'),
    completed(message('b', 'Second words.')),
    completed(message('a', 'First, whole.')),
    started(message('c', '')),
    completed(message('c', '')),
    started(message('d', '')),
  ]);
  expect(textsIn(response)).toEqual([
    ['agent', 'Second words.'],
    ['agent', 'First, whole.'],
  ]);
  const own = payloads.flatMap((one) =>
    'itemId' in one && /[abcd]$/.test(one.itemId) ? [`${one.type} ${one.itemId.at(-1)}`] : [],
  );
  expect(own).toEqual([
    'item_start b',
    'item_delta b',
    'item_delta b',
    'item_done b',
    'item_start a',
    'item_done a',
  ]);
});

test('when a turn is cut off, the streamed text stays exact', () => {
  const lost = periodicTexts.flatMap(({ period, size, text, chunks }) => {
    const deltas = chunks.map((chunk) => delta('a', chunk));
    const { response } = told([started(message('a', '')), ...deltas], 'interrupted');
    return textsIn(response)[0]?.[1] === text ? [] : [{ period, size }];
  });
  expect(lost).toEqual([]);
});

test('a retry that Codex announces withdraws open messages and reasoning, and nothing else', () => {
  const { response, payloads } = told([
    started(message('before', '')),
    delta('before', 'Said before.'),
    completed(message('before', 'Said before.')),
    started({ type: 'commandExecution', id: 'run', command: 'sleep 1', status: 'inProgress' }),
    started({ type: 'reasoning', id: 'thought', summary: [], content: [] }),
    ['item/reasoning/summaryTextDelta', { itemId: 'thought', delta: 'Hm', summaryIndex: 0 }],
    started(message('half', '')),
    delta('half', 'Half of'),
    retrying,
    started(message('whole', '')),
    delta('whole', 'Half of it all.'),
    completed(message('whole', 'Half of it all.')),
    completed({ type: 'commandExecution', id: 'run', command: 'sleep 1', status: 'completed' }),
  ]);
  expect(cancelled(payloads)).toEqual([
    ['turn:thought', 'retry'],
    ['turn:half', 'retry'],
  ]);
  expect(textsIn(response)).toEqual([
    ['agent', 'Said before.'],
    ['agent', 'Half of it all.'],
  ]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ success: true }]);
});

test('an answer that Codex repeats without announcing a retry is shown twice', () => {
  const { response } = told([
    started(message('half', '')),
    delta('half', 'Half of it'),
    started(message('whole', '')),
    completed(message('whole', 'Half of it')),
  ]);
  expect(textsIn(response)).toEqual([
    ['agent', 'Half of it'],
    ['agent', 'Half of it'],
  ]);
});

test('a retry is shown as the activity until the next item', () => {
  const { turn } = begun();
  expect(turn.read(...retrying)).toBe('Reconnecting... 1/5');
  expect(turn.read('thread/tokenUsage/updated', {})).toBeUndefined();
  expect(turn.read(...delta('a', 'x'))).toBe('');
  expect(turn.read(...delta('a', 'y'))).toBeUndefined();
  expect(turn.read(...retrying)).toBe('Reconnecting... 1/5');
  expect(turn.read('turn/completed', { turn: { id: 'native', status: 'completed' } })).toBe('');
});

test('the progress of an MCP tool is shown as the activity until the next item', () => {
  const { turn } = begun();
  const progress = (message: string) =>
    turn.read('item/mcpToolCall/progress', { itemId: 'a', message });
  expect(progress('3 of 8')).toBe('3 of 8');
  expect(progress('3 of 8')).toBeUndefined();
  expect(progress('8 of 8')).toBe('8 of 8');
  expect(turn.read(...completed(message('m', 'Done.')))).toBe('');
});

test('each part of a reasoning item becomes a paragraph', () => {
  const item = { type: 'reasoning', id: 'a', summary: [], content: [] };
  const parts = [summed('One'), summed(' first'), summed('Two', 1), summed('Three', 2)];
  const open = told([started(item), ...parts], 'interrupted');
  expect(textsIn(open.response)).toEqual([['thought', 'One first\n\nTwo\n\nThree']]);
  const summary = ['One first', 'Two', 'Three'];
  const whole = told([started(item), ...parts, completed({ ...item, summary })]);
  expect(textsIn(whole.response)).toEqual(textsIn(open.response));
});

test.each([
  ['as it streamed', ['Long', 'Again'], ['Short'], 'Long\n\nAgain\n\nShort'],
  ['without the summary', ['Long', 'Again'], [], 'Long\n\nAgain\n\nShort'],
  ['without the text', [], ['Short'], 'Long\n\nAgain\n\nShort'],
  ['as nothing', [], [], 'Long\n\nAgain\n\nShort'],
  ['with a part that did not stream', [], ['Other'], 'Long\n\nAgain\n\nShort\n\nOther'],
  ['longer', ['Long', 'Again'], ['Shortly'], 'Long\n\nAgain\n\nShortly'],
])('SAFE: shown reasoning stays complete if Codex ends it %s', (_how, content, summary, all) => {
  const item = { type: 'reasoning', id: 'a', summary: [], content: [] };
  const streamed = [
    started(item),
    raw('Lo'),
    raw('ng'),
    raw('Again', 1),
    summed('Sh'),
    summed('ort'),
  ];
  const { response } = told([...streamed, completed({ ...item, content, summary })]);
  expect(textsIn(response)).toEqual([['thought', all]]);
  const open = told(streamed, 'interrupted');
  expect(textsIn(open.response)).toEqual([['thought', 'Long\n\nAgain\n\nShort']]);
});

test.each(['', 'Words'])('SAFE: shown text stays if Codex ends the message as “%s”', (text) => {
  const { response } = told([
    started(message('a', '')),
    delta('a', 'Words that were shown.'),
    completed(message('a', text)),
  ]);
  expect(textsIn(response)).toEqual([['agent', 'Words that were shown.']]);
});

test('a message without text is not shown', () => {
  const { response } = told([
    started(message('a', '')),
    completed(message('a', '')),
    started(message('b', '')),
  ]);
  expect(textsIn(response)).toEqual([]);
});

test('an item that was never started is shown when it is completed', () => {
  const { response } = told([
    completed(message('a', 'Out of nowhere.')),
    completed({ type: 'webSearch', id: 'b', query: 'the fox' }),
  ]);
  expect(textsIn(response)).toEqual([['agent', 'Out of nowhere.']]);
  expect(itemsOf(response, 'function_call')).toMatchObject([
    { name: 'web_search', kind: 'fetch', title: 'Search the web for “the fox”' },
  ]);
});

test.each([
  [{ query: 'cats', action: { type: 'search', query: 'cats' } }, 'Search the web for “cats”'],
  [
    { query: 'cats ...', action: { type: 'search', queries: ['cats', 'dogs'] } },
    'Search the web for “cats”, “dogs”',
  ],
  [
    { query: 'x', action: { type: 'openPage', url: 'https://example.org/a' } },
    'Open https://example.org/a',
  ],
  [
    { query: 'x', action: { type: 'findInPage', url: 'https://example.org/a', pattern: 'tabby' } },
    'Find “tabby” in https://example.org/a',
  ],
  [{ query: '', action: { type: 'other' } }, 'Search the web'],
  [{ query: 'cats', action: 7 }, 'Search the web for “cats”'],
])('a web search %j is shown as %s', (search, title) => {
  const { response } = told([completed({ type: 'webSearch', id: 'a', ...search })]);
  expect(itemsOf(response, 'function_call')).toMatchObject([{ name: 'web_search', title }]);
});

test('the results of a web search are its output', () => {
  const results = [
    { title: 'Cats', url: 'https://example.org/cats' },
    { url: 'https://example.org/dogs' },
    { answer: 42 },
  ];
  const { response } = told([completed({ type: 'webSearch', id: 'a', query: 'cats', results })]);
  const output = 'Cats\nhttps://example.org/cats\n\nhttps://example.org/dogs\n\n{"answer":42}';
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ output, success: true }]);
});

test('a patch is shown as it grows while the model writes the patch', () => {
  const change = (diff: string) => ({ path: '/project/a.ts', kind: { type: 'add' }, diff });
  const { drafts, turn } = begun();
  turn.read(...started({ type: 'fileChange', id: 'c', changes: [], status: 'inProgress' }));
  for (const diff of ['one\n', 'one\ntwo\n']) {
    turn.read('item/fileChange/patchUpdated', { itemId: 'c', changes: [change(diff)] });
    expect(itemsOf(foldTurn(drafts, 'turn'), 'function_call')).toMatchObject([
      { title: 'Write a.ts', diffs: [{ path: '/project/a.ts', newText: diff }] },
    ]);
  }
});

test('each hunk of a changed file has the numbers of its first lines', () => {
  const diff = [
    '@@ -12,3 +12,4 @@ function greet() {',
    ' a\n-b\n+B\n+BB\n c',
    '@@ -40 +41 @@',
    '-@@ -7 +7 @@\n+d',
    '@@ no numbers @@',
    '-e\n+f\n',
  ];
  const change = { path: '/project/a.ts', kind: { type: 'update' }, diff: diff.join('\n') };
  const item = { type: 'fileChange', id: 'c', changes: [change], status: 'completed' };
  const path = '/project/a.ts';
  expect(itemsOf(told([completed(item)]).response, 'function_call')[0]?.diffs).toEqual([
    { path, oldText: 'a\nb\nc\n', newText: 'a\nB\nBB\nc\n', oldLine: 12, newLine: 12 },
    { path, oldText: '@@ -7 +7 @@\n', newText: 'd\n', oldLine: 40, newLine: 41 },
    { path, oldText: 'e\n', newText: 'f\n' },
  ]);
});

test('input that the model types into a running command is shown; empty input is not', () => {
  const run = { type: 'commandExecution', id: 'run', command: 'npm init', processId: '7' };
  const typed = (stdin: string): Notification => [
    'item/commandExecution/terminalInteraction',
    { itemId: 'run', processId: '7', stdin },
  ];
  const { response } = told([started(run), typed('yes\n'), typed(''), typed('\u0003')]);
  expect(textsIn(response)).toEqual([
    ['system', 'Typed into “Run npm init”: `yes⏎`'],
    ['system', 'Typed into “Run npm init”: `^C`'],
  ]);
});

test('a message is shown with its questions and the memories that it cites', () => {
  const questions = [{ title: 'Which colour?', options: ['Red', 'Blue'] }, { title: 'Why?' }];
  const entries = [{ path: 'MEMORY.md', lineStart: 3, lineEnd: 4, note: 'likes red' }];
  const { response } = told([
    delta('a', 'Two things.'),
    completed({ ...message('a', 'Two things.'), questions, memoryCitation: { entries } }),
    completed({ ...message('b', ''), questions: [{ title: 'Only a question?', options: null }] }),
  ]);
  expect(textsIn(response)).toEqual([
    [
      'agent',
      'Two things.\n\n**Which colour?**\n- Red\n- Blue\n\n**Why?**\n\nFrom Codex’ memory:\n- `MEMORY.md:3-4` likes red',
    ],
    ['agent', '**Only a question?**'],
  ]);
});

test('an item of an unknown type is kept unchanged', () => {
  const odd = { type: 'somethingNew', id: 'x', payload: [1, 2] };
  const { response } = told([completed(odd), completed(message('a', 'Go on.'))]);
  expect(response.outputItems.flatMap(({ raw }) => raw ?? [])).toEqual([odd]);
});

test.each([
  [
    'continues after its turn',
    'completed',
    { output: 'It continues in the background.', success: true },
  ],
  ['was stopped with it', 'interrupted', { output: '', success: false }],
])('a command that %s has an output item', (_, status, output) => {
  const run = { type: 'commandExecution', id: 'run', command: 'serve', processId: '7' };
  const { response } = told([started(run)], status);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([{ callId: 'run', ...output }]);
});

test.each([
  [{ type: 'commandExecution', command: 'sleep 2', exitCode: 0 }],
  [{ type: 'mcpToolCall', server: 's', tool: 't', result: { content: [] } }],
])('the result of a call has the duration that Codex reports: %j', (fields) => {
  const run = { id: 'run', status: 'completed', ...fields };
  const durationOf = (durationMs: unknown) =>
    itemsOf(
      told([started(run), completed({ ...run, durationMs })]).response,
      'function_call_output',
    ).map((item) => item.durationMs);
  expect(durationOf(2034)).toEqual([2034]);
  expect(durationOf(null)).toEqual([undefined]);
  expect(durationOf('long')).toEqual([undefined]);
});

test('the whole streamed output of a command stays if Codex shortens its final output', () => {
  const run = { type: 'commandExecution', id: 'run', command: 'seq 9', status: 'completed' };
  const print = (text: string): Notification => [
    'item/commandExecution/outputDelta',
    { itemId: 'run', delta: text },
  ];
  const printed = [started({ ...run, status: 'inProgress' }), print('1\n2\n'), print('3\n4\n')];
  const short = told([...printed, completed({ ...run, aggregatedOutput: '1…4\n', exitCode: 0 })]);
  expect(itemsOf(short.response, 'function_call_output')).toMatchObject([
    { output: '1\n2\n3\n4\n', success: true, exitCode: 0 },
  ]);
  const more = told([...printed, completed({ ...run, aggregatedOutput: '0\n1\n2\n3\n4\n' })]);
  expect(itemsOf(more.response, 'function_call_output')).toMatchObject([
    { output: '0\n1\n2\n3\n4\n' },
  ]);
});

test('a plan is one item that changes', () => {
  const plan = (...statuses: string[]): Notification => [
    'turn/plan/updated',
    { plan: statuses.map((status, at) => ({ step: `Step ${at}`, status })) },
  ];
  const { response } = told([plan('inProgress', 'pending'), plan('completed', 'inProgress')]);
  expect(itemsOf(response, 'plan')).toMatchObject([
    {
      entries: [
        { content: 'Step 0', status: 'completed' },
        { content: 'Step 1', status: 'in_progress' },
      ],
    },
  ]);
});

const changed = (diff: unknown): Notification => ['turn/diff/updated', { diff }];
const patchOf = (name: string, ...lines: string[]) =>
  [`diff --git a/${name} b/${name}`, `--- a/${name}`, `+++ b/${name}`, ...lines, ''].join('\n');
const changesIn = ({ response }: ReturnType<typeof told>) => itemsOf(response, 'file_changes');

test('the file changes of a turn are one item with the newest state', () => {
  const first = patchOf('a.txt', '@@ -1 +1 @@', '-one', '+eins');
  const said = told([changed(first), changed(first + patchOf('b.txt', '@@ -1 +1 @@', '-x', '+y'))]);
  expect(changesIn(said)).toMatchObject([
    {
      id: 'turn:changes',
      diffs: [
        { path: '/project/a.txt', oldText: 'one\n', newText: 'eins\n' },
        { path: '/project/b.txt', oldText: 'x\n', newText: 'y\n' },
      ],
    },
  ]);
  expect(changesIn(told([changed(first), changed(first), changed('')]))).toMatchObject([
    { diffs: [] },
  ]);
  const again = told([changed(first), changed(first)]);
  expect(again.payloads.filter(({ type }) => type === 'item_delta')).toEqual([]);
  expect(changesIn(told([changed(7)]))).toEqual([]);
  const odd = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\nno mark\n';
  expect(changesIn(told([changed(odd)]))).toMatchObject([{ diffs: [], raw: odd }]);
});

test('the changes of a turn include moved, deleted and new empty files', () => {
  const diff = [
    'diff --git a/empty b/empty',
    'new file mode 100644',
    'index 0000000..e69de29',
    'diff --git a/old b/new',
    'similarity index 100%',
    'rename from old',
    'rename to new',
    'diff --git a/gone b/gone',
    'deleted file mode 100644',
    'index e69de29..0000000',
    '',
  ].join('\n');
  expect(changesIn(told([changed(diff)])).map(({ diffs }) => diffs)).toEqual([
    [
      { path: '/project/empty', newText: '' },
      { path: '/project/new', oldText: '', newText: '' },
      { path: '/project/gone', oldText: '', newText: '' },
    ],
  ]);
});

test('names in a diff are relative to the folder in which patches touched them: the session’s or a parent', () => {
  const touch = (...paths: string[]): Notification =>
    completed({
      type: 'fileChange',
      id: 'patch',
      status: 'completed',
      changes: paths.map((path) => ({ path, kind: { type: 'update' }, diff: '' })),
    });
  const pathsOf = (touched: string[], ...names: string[]) => {
    const diff = names.map((name) => patchOf(name, '@@ -1 +1 @@', '-one', '+eins')).join('');
    const said = told([touch(...touched), changed(diff)]);
    return changesIn(said).flatMap(({ diffs }) => diffs.map(({ path }) => path));
  };
  const inside = ['/project/a.txt', '/project/project/a.txt'];
  expect(pathsOf(inside, 'a.txt', 'project/a.txt')).toEqual(inside);
  const above = ['/a.txt', '/project/a.txt'];
  expect(pathsOf(above, 'a.txt', 'project/a.txt')).toEqual(above);
  expect(pathsOf(['/project/a.txt', '/etc/b'], 'a.txt', '/etc/b')).toEqual([
    '/project/a.txt',
    '/etc/b',
  ]);
  expect(pathsOf(['/elsewhere/c'], 'a.txt')).toEqual(['/project/a.txt']);
});

test('a turn that is cut off keeps its file changes', () => {
  const { drafts, turn } = begun();
  turn.read(...changed(patchOf('a.txt', '@@ -1 +1 @@', '-one', '+eins')));
  turn.fail({ message: 'Gone.' });
  expect(itemsOf(foldTurn(drafts, 'turn'), 'file_changes')).toMatchObject([
    { diffs: [{ newText: 'eins\n' }] },
  ]);
});

test('a thousand states of large changes take less than seven times the size of the last state', () => {
  const line = `+${'x'.repeat(99)}\n`;
  const states = Array.from({ length: 1_000 }, (_, at) =>
    changed(patchOf('a.txt', `@@ -0,0 +1,${at + 1} @@`) + line.repeat(at + 1)),
  );
  const { response, payloads } = told(states);
  const [changes] = itemsOf(response, 'file_changes');
  expect(changes?.diffs[0]?.newText).toBe(line.slice(1).repeat(1_000));
  expect(JSON.stringify(payloads).length).toBeLessThan(7 * JSON.stringify(changes).length);
});

test.each([
  [
    'a new file',
    ['new file mode 100644', '--- /dev/null', '+++ b/n'],
    ['+one'],
    { newText: 'one\n' },
  ],
  [
    'a deleted file',
    ['deleted file mode 100644', '--- a/n', '+++ /dev/null'],
    ['-one'],
    { oldText: 'one\n', newText: '', oldLine: 1, newLine: 2 },
  ],
  [
    'lines that look like heads',
    ['--- a/n', '+++ b/n'],
    ['--- a/x', '+++ b/x', ' diff --git a/y b/y'],
    {
      oldText: '-- a/x\ndiff --git a/y b/y\n',
      newText: '++ b/x\ndiff --git a/y b/y\n',
      oldLine: 1,
      newLine: 1,
    },
  ],
  [
    'texts without an end of line',
    ['--- a/n', '+++ b/n'],
    ['-one', '\\ No newline at end of file', '+two', '\\ No newline at end of file'],
    { oldText: 'one', newText: 'two', oldLine: 1, newLine: 1 },
  ],
])('the file changes are read from a git diff that has %s', (_, head, lines, texts) => {
  const own = (other: string) => lines.filter((one) => !one.startsWith(other) && one[0] !== '\\');
  const at = `@@ -1,${own('+').length} +1,${own('-').length} @@`;
  const diff = ['diff --git a/n b/n', ...head, at, ...lines, ''].join('\n');
  const [changes] = changesIn(told([changed(diff)]));
  expect(changes?.diffs).toEqual([{ path: '/project/n', ...texts }]);
});

test('the file changes of a task are shown below the call that began the task', () => {
  const { drafts, turn } = begun();
  const spawn = { type: 'collabAgentToolCall', id: 'spawn', tool: 'spawnAgent' };
  turn.read(...started({ ...spawn, receiverThreadIds: ['one'], agentsStates: {}, status: '' }));
  turn.readTask('one', ...started(message('a', '')));
  turn.readTask('one', ...changed(patchOf('a.txt', '@@ -1 +1 @@', '-one', '+eins')));
  turn.read(...changed(patchOf('b.txt', '@@ -1 +1 @@', '-one', '+eins')));
  turn.end({ id: 'native', status: 'completed' });
  expect(itemsOf(foldTurn(drafts, 'turn'), 'file_changes')).toMatchObject([
    { id: 'turn:one:changes', parentCallId: 'spawn' },
    { id: 'turn:changes' },
  ]);
});

test.each([
  ['contextWindowExceeded', 'CONTEXT_LENGTH'],
  ['usageLimitExceeded', 'RATE_LIMITED'],
  [{ responseStreamDisconnected: { httpStatusCode: 502 } }, 'CONNECTION_LOST'],
  ['unauthorized', 'AUTHENTICATION_FAILED'],
  ['serverOverloaded', 'OVERLOADED'],
  ['toString', 'AGENT_ERROR'],
  [null, 'AGENT_ERROR'],
])('a turn that fails with %j has the code %s and keeps its messages', (codexErrorInfo, code) => {
  const { drafts, turn } = begun();
  turn.read(...started(message('a', '')));
  turn.read(...delta('a', 'Half of'));
  turn.end({ id: 'native', status: 'failed', error: { message: 'It broke.', codexErrorInfo } });
  const response = foldTurn(drafts, 'turn');
  expect(response).toMatchObject({ status: 'error', error: { code, message: 'It broke.' } });
  expect(textsIn(response)).toEqual([['agent', 'Half of']]);
});

test('an error in JSON from the model’s API is shown as its sentence', () => {
  const { drafts, turn } = begun();
  const answer = JSON.stringify({ error: { message: 'The key is wrong.', type: 'x' } });
  const error = { message: answer, additionalDetails: 'request id 7' };
  turn.end({ id: 'native', status: 'failed', error });
  expect(foldTurn(drafts, 'turn').error?.message).toBe('The key is wrong. (request id 7)');
});

test('the tokens of all requests are added up; the total of the last request is the size of the context', () => {
  const usage = (totalTokens: number): Notification => [
    'thread/tokenUsage/updated',
    {
      tokenUsage: {
        last: { totalTokens, inputTokens: 100, cachedInputTokens: 40, outputTokens: 20 },
        modelContextWindow: 95_000,
      },
    },
  ];
  expect(told([usage(120), usage(300)]).response.usage).toEqual({
    inputTokens: 200,
    outputTokens: 40,
    cacheReadInputTokens: 80,
    contextTokens: 300,
    contextWindow: 95_000,
  });
});

const spawn = (id: string, receiverThreadIds: string[] = []) => ({
  type: 'collabAgentToolCall',
  id,
  tool: 'spawnAgent',
  status: 'inProgress',
  prompt: 'You count.',
  receiverThreadIds,
});

test('a task belongs to the call that began it, whichever Codex reports first', () => {
  const { drafts, turn } = begun();
  turn.read(...started(spawn('first')));
  turn.readTask('one', 'item/started', { item: message('a', '') });
  turn.readTask('one', 'item/agentMessage/delta', { itemId: 'a', delta: 'I am one.' });
  turn.read(...completed(spawn('first', ['one'])));
  turn.read(...completed(spawn('second', ['two'])));
  turn.readTask('two', ...completed(message('a', 'I am two.')));
  turn.readTask('two', 'turn/completed', { turn: { id: 'x', status: 'completed' } });
  turn.end({ id: 'native', status: 'completed' });

  expect(brokenRules(payloadsOf(drafts, 'turn'))).toEqual([]);
  const spoken = itemsOf(foldTurn(drafts, 'turn'), 'message').filter(
    ({ origin }) => origin === 'agent',
  );
  expect(spoken).toMatchObject([
    { content: 'I am one.', parentCallId: 'first' },
    { content: 'I am two.', parentCallId: 'second' },
  ]);
});

test('each call of a task that ends before its turn has one output', () => {
  const { drafts, turn } = begun();
  turn.read(...completed(spawn('call', ['one'])));
  const run = { type: 'commandExecution', command: 'serve', status: 'inProgress' };
  turn.readTask('one', ...started({ ...run, id: 'inner' }));
  turn.read(...started({ ...run, id: 'outer' }));
  turn.readTask('one', 'turn/completed', { turn: { id: 'x', status: 'completed' } });
  turn.end({ id: 'native', status: 'completed' });
  expect(brokenRules(payloadsOf(drafts, 'turn'))).toEqual([]);
  const answered = itemsOf(foldTurn(drafts, 'turn'), 'function_call_output');
  expect(answered.map(({ callId }) => callId)).toEqual(['call', 'inner', 'outer']);
});

test('a retry of a task withdraws only the open items of that task', () => {
  const { drafts, turn } = begun();
  turn.read(...completed(spawn('call', ['one'])));
  turn.read(...started(message('a', '')));
  turn.read(...delta('a', 'Main'));
  turn.readTask('one', ...started(message('a', '')));
  turn.readTask('one', ...delta('a', 'Task'));
  turn.readTask('one', ...retrying);
  expect(cancelled(payloadsOf(drafts, 'turn'))).toEqual([['turn:one:a', 'retry']]);
  turn.read(...retrying);
  expect(cancelled(payloadsOf(drafts, 'turn'))).toHaveLength(2);
});

test('a later message of a person in the turn is shown; the first message began the turn', () => {
  const word = (id: string, text: string) => ({
    type: 'userMessage',
    id,
    content: [{ type: 'text', text }],
  });
  const { response } = told([
    completed(word('a', 'Go.')),
    completed(message('b', 'Going.')),
    completed(word('c', 'Faster.')),
  ]);
  expect(textsIn(response)).toEqual([
    ['agent', 'Going.'],
    ['user', 'Faster.'],
  ]);
});
