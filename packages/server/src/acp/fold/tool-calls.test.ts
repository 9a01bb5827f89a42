import { expect, test } from 'vitest';
import { diagnosis, metaOf, ownMeta } from './meta.ts';
import { noticeOf } from './notice.ts';
import {
  announcedCall,
  type ApprovalItem,
  type CallItem,
  changedCall,
  clearedCall,
  cutOffCall,
  endedCall,
  hasCompleteInput,
  type OutputOf,
  callWithQuestion,
  questionFields,
  outputUpdate,
} from './tool-calls.ts';

const call: Extract<CallItem, { type: 'function_call' }> = {
  type: 'function_call',
  id: 'a',
  callId: 'call-a',
  name: 'Bash',
  arguments: '{"command":"ls"}',
  origin: 'agent',
};
const script = {
  type: 'script_execution',
  id: 's',
  code: 'return 1;',
  origin: 'agent',
} as CallItem;
const diffs = [{ path: '/a', oldText: 'b', newText: 'c' }];
const output = (said: string, more: object = {}) =>
  ({
    type: 'function_call_output',
    id: 'out',
    callId: 'call-a',
    output: said,
    success: true,
    origin: 'tool_harness',
    ...more,
  }) as OutputOf;
const scriptOutput = (result: string, more: object = {}) =>
  ({
    type: 'script_execution_output',
    id: 'out',
    scriptId: 's',
    result,
    success: true,
    origin: 'script_harness',
    ...more,
  }) as OutputOf;

const words = (text: string) => ({ type: 'content', content: { type: 'text', text } });
const terminal = { type: 'terminal', terminalId: 'a' };
const diff = { type: 'diff', path: '/a', oldText: 'b', newText: 'c' };
const plain = { isTerminal: false };
const inTerminal = { isTerminal: true };

test('a call is announced with its title or its name; the announcement contains the input only if the input is complete', () => {
  const whole = { isInputComplete: true, isTerminal: false, parent: undefined };
  const shared = { sessionUpdate: 'tool_call', toolCallId: 'a', name: 'Bash' };
  expect(announcedCall(call, whole)).toEqual({
    ...shared,
    title: 'Bash',
    kind: 'other',
    rawInput: { command: 'ls' },
    status: 'in_progress',
  });
  const named: CallItem = { ...call, title: 'List', kind: 'execute', locations: [{ path: '/a' }] };
  expect(announcedCall(named, { ...whole, isInputComplete: false })).toEqual({
    ...shared,
    title: 'List',
    kind: 'execute',
    locations: [{ path: '/a' }],
    status: 'pending',
  });
});

test('the announcement of a subagent’s call in a terminal contains the terminal, the diffs and the parent call', () => {
  const look = { isInputComplete: true, isTerminal: true, parent: 'p' };
  expect(announcedCall({ ...call, diffs }, look)).toMatchObject({
    content: [terminal, diff],
    _meta: {
      terminal_info: { terminal_id: 'a' },
      liminal: { parentToolCallId: 'p' },
      claudeCode: { parentToolUseId: 'p' },
    },
  });
});

test('the announcement of a script contains the script’s code', () => {
  expect(
    announcedCall(script, { isInputComplete: true, isTerminal: false, parent: undefined }),
  ).toEqual({
    sessionUpdate: 'tool_call',
    toolCallId: 's',
    title: 'Script',
    name: 'script',
    kind: 'execute',
    rawInput: { code: 'return 1;' },
    status: 'in_progress',
  });
});

test.each([
  ['', {}],
  ['{"a', '{"a'],
  ['[1]', [1]],
])(
  'arguments are shown as parsed JSON, or unchanged if they are not JSON: %j',
  (json, rawInput) => {
    const look = { isInputComplete: true, isTerminal: false, parent: undefined };
    expect(announcedCall({ ...call, arguments: json }, look)).toMatchObject({ rawInput });
  },
);

test('an update of a call contains only the fields that changed', () => {
  const options = { sendsInput: false, begins: false, isTerminal: false };
  expect(changedCall(call, { ...call, arguments: '{}' }, options)).toBeUndefined();
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  expect(changedCall(call, call, { ...options, begins: true })).toEqual({
    ...update,
    status: 'in_progress',
  });
  expect(changedCall(call, call, { ...options, sendsInput: true })).toEqual({
    ...update,
    rawInput: { command: 'ls' },
  });
  expect(changedCall(call, { ...call, title: 'List', diffs }, options)).toEqual({
    ...update,
    title: 'List',
    content: [diff],
  });
  expect(changedCall(call, { ...call, diffs }, { ...options, isTerminal: true })).toEqual({
    ...update,
    content: [terminal, diff],
  });
});

test('an update of a call’s output contains the whole output so far', () => {
  const options = { isTerminal: false, printed: '', begins: false };
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  expect(outputUpdate(call, output('Hi'), options)).toEqual({ ...update, content: [words('Hi')] });
  expect(outputUpdate(call, output('Hi'), { ...options, begins: true })).toEqual({
    ...update,
    status: 'in_progress',
    content: [words('Hi')],
  });
});

test('output in a terminal is sent as new text for the terminal; the update contains content only if there are also diffs or blocks', () => {
  const options = { isTerminal: true, printed: 'new', begins: false };
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  const meta = { _meta: { terminal_output: { terminal_id: 'a', data: 'new' } } };
  expect(outputUpdate(call, output('Hi new'), options)).toEqual({ ...update, ...meta });
  expect(outputUpdate(call, output('Hi new', { diffs }), options)).toEqual({
    ...update,
    content: [terminal, diff],
    ...meta,
  });
});

test('if an output has diffs, they replace the diffs of its call', () => {
  const options = { isTerminal: false, printed: '', begins: false };
  const own = [{ path: '/b', oldText: null, newText: 'd' }];
  expect(outputUpdate({ ...call, diffs }, output(''), options).content).toEqual([diff]);
  expect(outputUpdate({ ...call, diffs }, output('', { diffs: [] }), options).content).toEqual([
    diff,
  ]);
  expect(
    outputUpdate({ ...call, diffs }, output('', { diffs: own }), options).content,
  ).toMatchObject([{ type: 'diff', path: '/b', newText: 'd' }]);
});

test('the end of a successful call contains the output twice: as content for people, and as raw output for programs', () => {
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  expect(endedCall(call, output('Hi'), { ...plain, printed: '' })).toEqual({
    ...update,
    status: 'completed',
    content: [words('Hi')],
    rawOutput: { output: 'Hi' },
  });
  expect(
    endedCall(call, output('Hi', { exitCode: 0 }), { ...plain, printed: '' }).rawOutput,
  ).toEqual({
    output: 'Hi',
    exitCode: 0,
  });
  expect(endedCall(script, scriptOutput('1'), { ...plain, printed: '' })).toEqual({
    ...update,
    toolCallId: 's',
    status: 'completed',
    content: [words('1')],
    rawOutput: { result: '1' },
  });
});

test('the end of a failed call contains the error’s message, in its content or in its raw output', () => {
  const error = { code: 'A', message: 'It broke.', stack: 'at home', details: { b: 1 } };
  const broken = { code: 'A', message: 'It broke.', details: { b: 1 } };
  const end = (more: OutputOf) => endedCall(call, more, { ...plain, printed: '' });
  expect(end(output('', { success: false, error }))).toMatchObject({
    status: 'failed',
    content: [words('It broke.')],
    rawOutput: { output: '', error: broken },
  });
  // The call has failed although its output reported success.
  expect(end(output('Hi', { error }))).toMatchObject({
    status: 'failed',
    content: [words('Hi')],
    rawOutput: { error: broken },
  });
  expect(end(output('', { success: false }))).toMatchObject({
    status: 'failed',
    content: [],
    rawOutput: { error: { code: 'TOOL_FAILED', message: 'The tool failed.' } },
  });
  expect(end(output('', { success: false, exitCode: 2 })).rawOutput).toEqual({
    output: '',
    exitCode: 2,
    error: { code: 'TOOL_FAILED', message: 'The program ended with exit code 2.' },
  });
  expect(
    endedCall(script, scriptOutput('', { success: false, error }), { ...plain, printed: '' })
      .rawOutput,
  ).toEqual({ result: '', error: broken });
});

test('when a call in a terminal ends, the last update contains the last text for the terminal and the exit code', () => {
  const end = (out: OutputOf, printed: string) =>
    endedCall(call, out, { isTerminal: true, printed });
  expect(end(output('Hi all', { exitCode: 3 }), 'all')).toMatchObject({
    content: [terminal],
    _meta: {
      terminal_output: { terminal_id: 'a', data: 'all' },
      terminal_exit: { terminal_id: 'a', exit_code: 3, signal: null },
    },
  });
  expect(end(output('Hi'), '')._meta).toEqual({
    terminal_exit: { terminal_id: 'a', exit_code: null, signal: null },
  });
  const error = { code: 'A', message: 'It broke.' };
  expect(end(output('', { success: false, error }), '').content).toEqual([
    terminal,
    words('It broke.'),
  ]);
});

test('if a call has no output, the call ends with its turn', () => {
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  const exit = { terminal_exit: { terminal_id: 'a', exit_code: null, signal: null } };
  expect(cutOffCall(call, undefined, plain)).toEqual({ ...update, status: 'completed' });
  expect(cutOffCall(call, undefined, inTerminal)).toEqual({
    ...update,
    status: 'completed',
    _meta: exit,
  });
  const error = { code: 'A', message: 'It broke.', stack: 'at home' };
  expect(cutOffCall({ ...call, diffs }, error, inTerminal)).toEqual({
    ...update,
    status: 'failed',
    content: [terminal, words('It broke.'), diff],
    rawOutput: { error: { code: 'A', message: 'It broke.' } },
    _meta: exit,
  });
  expect(cutOffCall(call, error, plain).content).toEqual([words('It broke.')]);
  expect(cutOffCall(script, error, plain).content).toEqual([words('It broke.')]);
});

test('after the output of a call is withdrawn, the call shows only its diffs', () => {
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'a' };
  expect(clearedCall({ ...call, diffs })).toEqual({ ...update, content: [diff] });
  expect(clearedCall(call)).toEqual({ ...update, content: [] });
  expect(clearedCall(script).content).toEqual([]);
});

const question = (more: object = {}) =>
  ({
    type: 'approval',
    id: 'q',
    approvalId: 'q',
    callId: 'call-a',
    title: 'Run it?',
    options: [],
    origin: 'agent',
    ...more,
  }) as unknown as ApprovalItem;
const asked = { name: 'Edit', arguments: '{"a":1}', kind: 'edit' };

test('while a question about a call is open, the call has the title of the question', () => {
  expect(callWithQuestion(call, question(), plain)).toEqual({
    toolCallId: 'a',
    title: 'Run it?',
    name: 'Bash',
    rawInput: { command: 'ls' },
  });
  expect(callWithQuestion(call, question({ asked }), inTerminal)).toEqual({
    toolCallId: 'a',
    title: 'Run it?',
    name: 'Edit',
    kind: 'edit',
    rawInput: { a: 1 },
    content: [terminal],
  });
  expect(callWithQuestion(script, question({ asked }), plain)).toMatchObject({
    name: 'script',
    rawInput: { code: 'return 1;' },
  });
});

test('the content of a question contains the subagent that asks, the description, and earlier values of the call’s fields', () => {
  const earlier = { title: 'List', arguments: '{"a":0}' };
  const more = { askedBy: 'Claude', description: 'It lists files.', earlier };
  const content = [
    words('Claude asks:'),
    words('It lists files.'),
    words(
      `Before, the call said:\n\n${JSON.stringify({ title: 'List', arguments: { a: 0 } }, null, 2)}`,
    ),
  ];
  expect(callWithQuestion({ ...call, diffs }, question(more), plain).content).toEqual([
    ...content,
    diff,
  ]);
  expect(questionFields(question(more))).toEqual({ content });
  const titled = question({ earlier: { title: 'List' } });
  expect(questionFields(titled).content).toEqual([
    words(`Before, the call said:\n\n${JSON.stringify({ title: 'List' }, null, 2)}`),
  ]);
});

test('a question about a call that was never sent contains the fields of the requested call', () => {
  expect(questionFields(question())).toEqual({});
  expect(questionFields(question({ asked: { ...asked, diffs } }))).toEqual({
    name: 'Edit',
    kind: 'edit',
    rawInput: { a: 1 },
    content: [diff],
  });
});

test.each<[string, boolean]>([
  ['{"a":1}', true],
  ['{"a":1} \n', true],
  ['{"a":1', false],
  ['"}', false],
  ['"a}"', false],
  ['{"a":"}', false],
  ['{}}', false],
  ['[1]', false],
  ['', false],
])('whether the arguments %j are complete: %s', (json, isInputComplete) => {
  expect(hasCompleteInput({ ...call, arguments: json })).toBe(isInputComplete);
});

test('the code of a script is treated as complete from the start of the script', () => {
  expect(hasCompleteInput(script)).toBe(true);
});

test('the title of a notice is its first line, and its description is the remaining text', () => {
  const notice = { sessionUpdate: 'notice', severity: 'info' };
  expect(noticeOf('info', ' One. \n\n Two.\nThree. \n')).toEqual({
    ...notice,
    title: 'One. ',
    description: 'Two.\nThree.',
  });
  expect(noticeOf('info', 'One.')).toEqual({ ...notice, title: 'One.' });
});

test('_meta contains only fields with a value', () => {
  const about = { replaces: 'a', error: undefined } as unknown as Parameters<typeof metaOf>[0];
  expect(metaOf(about)).toStrictEqual({ _meta: { liminal: { replaces: 'a' } } });
  expect(metaOf({})).toEqual({});
  expect(metaOf({}, { a: 1 })).toEqual({ _meta: { a: 1 } });
  expect(ownMeta({ a: 1, b: undefined })).toStrictEqual({ _meta: { liminal: { a: 1 } } });
  expect(ownMeta({ b: undefined })).toEqual({});
});

test('an error for programs contains the details of the error, but not its stack', () => {
  const error = { code: 'A', message: 'B', stack: 'C' };
  expect(diagnosis(error)).toStrictEqual({ code: 'A', message: 'B' });
  expect(diagnosis({ ...error, details: 1 })).toStrictEqual({
    code: 'A',
    message: 'B',
    details: 1,
  });
});
