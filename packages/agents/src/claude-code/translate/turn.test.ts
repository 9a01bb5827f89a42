import { describe, expect, test } from 'vitest';
import { hearTurn, startHearing, timestamp } from './testing/hearing.ts';
import { foldTurns, itemsOf } from '../../testing/folding.ts';

const answer = (content: object[], more: object = {}) => ({
  type: 'assistant',
  message: { id: 'm', model: 'model', content },
  ...more,
});
const inUsersName = (content: unknown, more: object = {}) => ({
  type: 'user',
  message: { content },
  ...more,
});
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, name = 'Bash', input: unknown = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
});
const result = (id: string, content: string, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
});
const background = { parent_tool_use_id: 'task' };

test('blocks without words leave nothing', () => {
  const empty = [
    text(''),
    { type: 'text' },
    { type: 'thinking', thinking: '' },
    { type: 'thinking' },
  ];
  const { outputItems } = hearTurn(answer([...empty, text('Hi.')]));
  expect(outputItems).toEqual([expect.objectContaining({ content: 'Hi.' })]);
  expect(outputItems[0]).not.toHaveProperty('raw');
});

test('what nobody knows is kept whole, whatever words it has', () => {
  const odd = { type: 'hologram', text: 'Words.', thinking: 'Thoughts.' };
  const { outputItems } = hearTurn(answer([odd, text('Hi.')]));
  expect(outputItems).toMatchObject([{ content: 'Hi.', raw: [odd] }]);
});

test('what comes in the user’s name and is neither words nor a result is kept', () => {
  const image = { type: 'image', source: 'x' };
  const { outputItems } = hearTurn(inUsersName([image]), answer([text('Seen.')]));
  expect(outputItems).toMatchObject([{ content: 'Seen.', raw: [image] }]);
});

test.each([
  [
    'what a command printed',
    '<local-command-stdout>\n## Usage \n</local-command-stdout>',
    ['## Usage'],
  ],
  ['not that it printed nothing', '<local-command-stdout> </local-command-stdout>', []],
  ['not that it summarised', '<local-command-stdout>Compacted</local-command-stdout>', []],
  ['not what is said around it', 'See <local-command-stdout>x</local-command-stdout>', []],
  ['not what comes after it', '<local-command-stdout>x</local-command-stdout>.', []],
  ['not what is meant for the model', 'Tool loaded.', []],
])('of words in the user’s name it is shown %s', (_name, words, shown) => {
  const { outputItems } = hearTurn(inUsersName(words));
  expect(outputItems.map((item) => 'content' in item && item.content)).toEqual(shown);
});

test('notices are messages of their own', () => {
  const printed = (words: string) =>
    inUsersName(`<local-command-stdout>${words}</local-command-stdout>`);
  const { outputItems } = hearTurn(printed('One.'), printed('Two.'));
  expect(outputItems).toMatchObject([
    { content: 'One.', origin: 'system' },
    { content: 'Two.', origin: 'system' },
  ]);
});

test('where Claude Code says that the user has stopped it, what was streamed stays', () => {
  const streamed = (event: object) => ({ type: 'stream_event', event });
  const { outputItems } = hearTurn(
    streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
    streamed({ type: 'content_block_start', index: 0, content_block: text('Half') }),
    inUsersName('[Request interrupted by user for tool use]'),
    streamed({ type: 'message_stop' }),
  );
  expect(outputItems).toMatchObject([{ content: 'Half' }]);
});

test('other words in the user’s name do not stop it: what a broken stream had begun is withdrawn', () => {
  const streamed = (event: object) => ({ type: 'stream_event', event });
  const { outputItems } = hearTurn(
    streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
    streamed({ type: 'content_block_start', index: 0, content_block: text('Half') }),
    inUsersName('Tool loaded.'),
    streamed({ type: 'message_stop' }),
  );
  expect(outputItems).toEqual([]);
});

test('the limit of steps may be reached without a word', () => {
  const { drafts, hear } = startHearing();
  const reached = { type: 'result', subtype: 'error_max_turns', is_error: true };
  hear({ type: 'system', subtype: 'status', status: 'requesting' }, reached);
  expect(drafts.map(({ payload }) => payload.type)).toEqual(['response_start', 'response_done']);
});

test('says once that the user asked to stop, of a turn that runs', () => {
  const { translator, drafts, hear } = startHearing();
  translator.stop(timestamp);
  hear({ type: 'system', subtype: 'status', status: 'requesting' });
  translator.stop(timestamp);
  translator.stop(timestamp);
  expect(drafts.slice(1).map(({ payload }) => payload)).toEqual([
    { type: 'turn_aborted_by_user', reason: 'The user asked to stop.' },
  ]);
});

test('the outcome of an approval that nobody knows changes nothing', () => {
  const { translator, drafts } = startHearing();
  const outcome = { outcome: 'cancelled' } as const;
  translator.closeApproval('a', outcome, timestamp);
  translator.openApproval({ approvalId: 'a', title: 'May I?', options: [] }, timestamp);
  const count = drafts.length;
  translator.closeApproval('b', outcome, timestamp);
  expect(drafts).toHaveLength(count);
});

test('a turn that completes answers its open calls, too', () => {
  expect(itemsOf(hearTurn(answer([call('c')])), 'function_call_output')).toMatchObject([
    { callId: 'c', output: 'The turn ended before this finished.', success: false },
  ]);
});

test('a message that replaces one of several blocks takes back all of them', () => {
  const refused = answer([text('No.'), { type: 'thinking', thinking: 'Hm.' }], { uuid: '1' });
  const { outputItems } = hearTurn(refused, answer([text('Yes.')], { supersedes: ['1', '9'] }));
  expect(outputItems).toMatchObject([{ content: 'Yes.' }]);
});

test('the API’s own tools answer in the same message', () => {
  const found = { type: 'web_search_tool_result', tool_use_id: 's', content: 'Found.' };
  const response = hearTurn(answer([call('s', 'web_search', { query: 'a' }), found]));
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 's', output: 'Found.' },
  ]);
});

describe('a subagent in the background', () => {
  test('has its calls told with their results, as they may come in a later turn', () => {
    const { translator, drafts, hear } = startHearing();
    const end = () => translator.end({ type: 'response_done', status: 'completed' }, timestamp);
    const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
    hear(requesting, answer([call('c', 'Bash', { command: 'ls' })], background));
    end();
    hear(requesting, inUsersName([result('c', 'a.txt')], background));
    end();
    const [first, second] = [...foldTurns(drafts).values()];
    expect(first?.outputItems).toEqual([]);
    expect(second?.outputItems).toMatchObject([
      {
        type: 'function_call',
        id: 'unasked-2:c',
        callId: 'c',
        title: 'Run ls',
        parentCallId: 'task',
      },
      { type: 'function_call_output', callId: 'c', output: 'a.txt', parentCallId: 'task' },
    ]);
  });

  test('has each call told once, also where its result is told again', () => {
    const { translator, drafts, hear } = startHearing();
    const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
    const told = inUsersName([result('c', 'a.txt')], background);
    hear(requesting, answer([call('c')], background), told);
    translator.end({ type: 'response_done', status: 'completed' }, timestamp);
    hear(requesting, told);
    const turns = [...foldTurns(drafts).values()];
    expect(turns.map((turn) => itemsOf(turn, 'function_call').length)).toEqual([1, 0]);
  });

  test('has a call without an id, of which no result could be told, told at once', () => {
    const response = hearTurn(answer([call('')], background));
    expect(itemsOf(response, 'function_call')).toMatchObject([
      { name: 'Bash', parentCallId: 'task' },
    ]);
  });
});

describe('a subagent that the turn waits for', () => {
  const task = answer([call('task', 'Agent')]);

  test('has its calls told at once', () => {
    const { drafts, hear } = startHearing();
    hear(task, answer([call('c')], background));
    expect(drafts.at(-1)?.payload).toMatchObject({ finalItem: { callId: 'c' } });
  });

  test('keeps a to-do list of its own, which is not the turn’s plan', () => {
    const todos = [{ content: 'Look', status: 'pending' }];
    const response = hearTurn(task, answer([call('c', 'TodoWrite', { todos })], background));
    expect(itemsOf(response, 'plan')).toEqual([]);
    expect(itemsOf(response, 'function_call').map(({ name }) => name)).toEqual([
      'Agent',
      'TodoWrite',
    ]);
  });

  test('has what it says and thinks below its call', () => {
    const said = [text('I look.'), { type: 'thinking', thinking: 'Hm.' }];
    const { outputItems } = hearTurn(task, answer(said, background));
    const inTask = outputItems.filter(({ parentCallId }) => parentCallId === 'task');
    expect(inTask.map(({ type }) => type)).toEqual(['message', 'reasoning']);
  });

  test('has the result of a call below its own, though it be told without that', () => {
    const response = hearTurn(
      task,
      answer([call('c')], background),
      inUsersName([result('c', 'x')]),
    );
    expect(itemsOf(response, 'function_call_output')[0]).toMatchObject({ parentCallId: 'task' });
  });
});

describe('a call', () => {
  test('whose arguments broke off keeps what there is of them', () => {
    const streamed = (event: object) => ({ type: 'stream_event', event });
    const { translator, drafts, hear } = startHearing();
    hear(
      streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
      streamed({ type: 'content_block_start', index: 0, content_block: call('c') }),
      streamed({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"comm' },
      }),
    );
    const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };
    translator.end({ type: 'response_error', error }, timestamp);
    const response = foldTurns(drafts).get('unasked-1')!;
    expect(itemsOf(response, 'function_call')).toMatchObject([
      { arguments: '{}', raw: { partialArguments: '{"comm' } },
    ]);
    expect(itemsOf(response, 'function_call_output')).toMatchObject([{ output: 'It is gone.' }]);
  });

  test.each([
    ['{"command"', '"{\\"command\\""'],
    [[1], '[1]'],
    [undefined, '{}'],
    [{ command: 'ls' }, '{"command":"ls"}'],
  ])('with the input %j has the arguments %s', (input, told) => {
    const [made] = itemsOf(hearTurn(answer([call('c', 'Bash', input)])), 'function_call');
    expect(made?.arguments).toBe(told);
  });

  test('without a name is called by what it is', () => {
    const [made] = itemsOf(hearTurn(answer([{ type: 'mcp_tool_use', id: 'c' }])), 'function_call');
    expect(made).toMatchObject({ name: 'mcp_tool_use', callId: 'c' });
  });
});

describe('the to-do list', () => {
  const todos = [{ content: 'Look', status: 'pending' }];

  test('is no item while nothing is on it, nor where it is unreadable', () => {
    const { outputItems } = hearTurn(
      answer([call('a', 'TaskList'), call('b', 'TodoWrite', { todos: 7 })]),
      inUsersName([result('a', 'No tasks.'), result('b', 'Done.')]),
    );
    expect(outputItems).toEqual([]);
  });

  test('shows a call that failed, with its name and why', () => {
    const failed = result('a', 'No such task.', { is_error: true });
    const { outputItems } = hearTurn(answer([call('a', 'TaskUpdate')]), inUsersName([failed]));
    expect(outputItems).toMatchObject([
      { type: 'function_call', callId: 'a', name: 'TaskUpdate' },
      { callId: 'a', output: 'No such task.', success: false },
    ]);
  });

  test('is one item, however often it changes, and shows no tool', () => {
    const done = [{ content: 'Look', status: 'completed' }];
    const response = hearTurn(
      answer([call('a', 'TodoWrite', { todos }), call('b', 'TodoWrite', { todos: done })]),
      inUsersName([result('a', 'Modified.'), result('b', 'Modified.')]),
    );
    expect(response.outputItems).toMatchObject([{ type: 'plan', entries: done }]);
  });

  test('begins once in its turn', () => {
    const { drafts, hear } = startHearing();
    hear(answer([call('a', 'TodoWrite', { todos }), call('b', 'TodoWrite', { todos })]));
    const starts = drafts.filter(({ payload }) => payload.type === 'item_start');
    expect(starts).toHaveLength(1);
  });

  test('is no tool while its arguments stream', () => {
    const streamed = (event: object) => ({ type: 'stream_event', event });
    const { drafts, hear } = startHearing();
    hear(
      streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
      streamed({ type: 'content_block_start', index: 0, content_block: call('a', 'TodoWrite') }),
    );
    expect(drafts.map(({ payload }) => payload.type)).toEqual(['response_start']);
  });
});
