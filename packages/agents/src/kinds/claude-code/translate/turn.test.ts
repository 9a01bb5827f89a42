import { describe, expect, test } from 'vitest';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';
import { foldTurns, itemsOf } from '../../../testing/folding.ts';

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

test('blocks without text are not shown', () => {
  const empty = [
    text(''),
    { type: 'text' },
    { type: 'thinking', thinking: '' },
    { type: 'thinking' },
  ];
  const { outputItems } = recordTurn(answer([...empty, text('Hi.')]));
  expect(outputItems).toEqual([expect.objectContaining({ content: 'Hi.' })]);
  expect(outputItems[0]).not.toHaveProperty('raw');
});

test('an unknown block is kept whole', () => {
  const odd = { type: 'hologram', text: 'Words.', thinking: 'Thoughts.' };
  const { outputItems } = recordTurn(answer([odd, text('Hi.')]));
  expect(outputItems).toMatchObject([{ content: 'Hi.', raw: [odd] }]);
});

test('a block in the user’s name that is neither text nor a result is kept', () => {
  const image = { type: 'image', source: 'x' };
  const { outputItems } = recordTurn(inUsersName([image]), answer([text('Seen.')]));
  expect(outputItems).toMatchObject([{ content: 'Seen.', raw: [image] }]);
});

test.each([
  [
    'the output of a command is shown',
    '<local-command-stdout>\n## Usage \n</local-command-stdout>',
    ['## Usage'],
  ],
  ['a command without output is not shown', '<local-command-stdout> </local-command-stdout>', []],
  [
    'a report of a compaction is not shown',
    '<local-command-stdout>Compacted</local-command-stdout>',
    [],
  ],
  [
    'an output element after other text is not shown',
    'See <local-command-stdout>x</local-command-stdout>',
    [],
  ],
  [
    'an output element before other text is not shown',
    '<local-command-stdout>x</local-command-stdout>.',
    [],
  ],
  ['text for the model is not shown', 'Tool loaded.', []],
])('for text in the user’s name, this holds: %s', (_name, words, shown) => {
  const { outputItems } = recordTurn(inUsersName(words));
  expect(outputItems.map((item) => 'content' in item && item.content)).toEqual(shown);
});

test('each notice is a separate message', () => {
  const printed = (words: string) =>
    inUsersName(`<local-command-stdout>${words}</local-command-stdout>`);
  const { outputItems } = recordTurn(printed('One.'), printed('Two.'));
  expect(outputItems).toMatchObject([
    { content: 'One.', origin: 'system' },
    { content: 'Two.', origin: 'system' },
  ]);
});

test('after Claude Code’s report that the user stopped the turn, streamed text stays', () => {
  const streamed = (event: object) => ({ type: 'stream_event', event });
  const { outputItems } = recordTurn(
    streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
    streamed({ type: 'content_block_start', index: 0, content_block: text('Half') }),
    inUsersName('[Request interrupted by user for tool use]'),
    streamed({ type: 'message_stop' }),
  );
  expect(outputItems).toMatchObject([{ content: 'Half' }]);
});

test('after other text in the user’s name, the text of a broken stream is withdrawn', () => {
  const streamed = (event: object) => ({ type: 'stream_event', event });
  const { outputItems } = recordTurn(
    streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
    streamed({ type: 'content_block_start', index: 0, content_block: text('Half') }),
    inUsersName('Tool loaded.'),
    streamed({ type: 'message_stop' }),
  );
  expect(outputItems).toEqual([]);
});

test('a turn that reaches its step limit without a text adds no notice', () => {
  const { drafts, send } = startTranslator();
  const reached = { type: 'result', subtype: 'error_max_turns', is_error: true };
  send({ type: 'system', subtype: 'status', status: 'requesting' }, reached);
  expect(drafts.map(({ payload }) => payload.type)).toEqual(['response_start', 'response_done']);
});

test('a stop of the running turn is recorded once', () => {
  const { translator, drafts, send } = startTranslator();
  translator.stop(timestamp);
  send({ type: 'system', subtype: 'status', status: 'requesting' });
  translator.stop(timestamp);
  translator.stop(timestamp);
  expect(drafts.slice(1).map(({ payload }) => payload)).toEqual([
    { type: 'turn_aborted_by_user', reason: 'The user asked to stop.' },
  ]);
});

test('the outcome of an unknown approval changes nothing', () => {
  const { translator, drafts } = startTranslator();
  const outcome = { outcome: 'cancelled' } as const;
  translator.closeApproval('a', outcome, timestamp);
  translator.openApproval({ approvalId: 'a', title: 'May I?', options: [] }, timestamp);
  const count = drafts.length;
  translator.closeApproval('b', outcome, timestamp);
  expect(drafts).toHaveLength(count);
});

test('a completed turn ends its open calls with an error output', () => {
  expect(itemsOf(recordTurn(answer([call('c')])), 'function_call_output')).toMatchObject([
    { callId: 'c', output: 'The turn ended before this call finished.', success: false },
  ]);
});

test('a message that replaces a message with several blocks withdraws all of these blocks', () => {
  const refused = answer([text('No.'), { type: 'thinking', thinking: 'Hm.' }], { uuid: '1' });
  const { outputItems } = recordTurn(refused, answer([text('Yes.')], { supersedes: ['1', '9'] }));
  expect(outputItems).toMatchObject([{ content: 'Yes.' }]);
});

test('the results of the API’s own tools are in the message of their calls', () => {
  const found = { type: 'web_search_tool_result', tool_use_id: 's', content: 'Found.' };
  const response = recordTurn(answer([call('s', 'web_search', { query: 'a' }), found]));
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 's', output: 'Found.' },
  ]);
});

describe('background subagents', () => {
  test('a background subagent’s calls are shown with their results, which may arrive in a later turn', () => {
    const { translator, drafts, send } = startTranslator();
    const end = () => translator.end({ type: 'response_done', status: 'completed' }, timestamp);
    const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
    send(requesting, answer([call('c', 'Bash', { command: 'ls' })], background));
    end();
    send(requesting, inUsersName([result('c', 'a.txt')], background));
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

  test('a background subagent’s call is shown once, even if its result is repeated', () => {
    const { translator, drafts, send } = startTranslator();
    const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
    const told = inUsersName([result('c', 'a.txt')], background);
    send(requesting, answer([call('c')], background), told);
    translator.end({ type: 'response_done', status: 'completed' }, timestamp);
    send(requesting, told);
    const turns = [...foldTurns(drafts).values()];
    expect(turns.map((turn) => itemsOf(turn, 'function_call').length)).toEqual([1, 0]);
  });

  test('a background subagent’s call without an id is shown at once, because its result could not be matched', () => {
    const response = recordTurn(answer([call('')], background));
    expect(itemsOf(response, 'function_call')).toMatchObject([
      { name: 'Bash', parentCallId: 'task' },
    ]);
  });
});

describe('subagents that the turn waits for', () => {
  const task = answer([call('task', 'Agent')]);

  test('the calls of a subagent that the turn waits for are shown at once', () => {
    const { drafts, send } = startTranslator();
    send(task, answer([call('c')], background));
    expect(drafts.at(-1)?.payload).toMatchObject({ finalItem: { callId: 'c' } });
  });

  test('a subagent’s to-do list is not the turn’s plan', () => {
    const todos = [{ content: 'Look', status: 'pending' }];
    const response = recordTurn(task, answer([call('c', 'TodoWrite', { todos })], background));
    expect(itemsOf(response, 'plan')).toEqual([]);
    expect(itemsOf(response, 'function_call').map(({ name }) => name)).toEqual([
      'Agent',
      'TodoWrite',
    ]);
  });

  test('a subagent’s messages and thoughts are shown below the call that began the subagent', () => {
    const said = [text('I look.'), { type: 'thinking', thinking: 'Hm.' }];
    const { outputItems } = recordTurn(task, answer(said, background));
    const inTask = outputItems.filter(({ parentCallId }) => parentCallId === 'task');
    expect(inTask.map(({ type }) => type)).toEqual(['message', 'reasoning']);
  });

  test('the result of a subagent’s call is shown below the call that began the subagent, even if the result does not name that call', () => {
    const response = recordTurn(
      task,
      answer([call('c')], background),
      inUsersName([result('c', 'x')]),
    );
    expect(itemsOf(response, 'function_call_output')[0]).toMatchObject({ parentCallId: 'task' });
  });
});

describe('calls', () => {
  test('incomplete arguments of a call are kept as a raw value', () => {
    const streamed = (event: object) => ({ type: 'stream_event', event });
    const { translator, drafts, send } = startTranslator();
    send(
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
  ])('a call with the input %j has the arguments %s', (input, told) => {
    const [made] = itemsOf(recordTurn(answer([call('c', 'Bash', input)])), 'function_call');
    expect(made?.arguments).toBe(told);
  });

  test('a call without a name has its type as its name', () => {
    const [made] = itemsOf(
      recordTurn(answer([{ type: 'mcp_tool_use', id: 'c' }])),
      'function_call',
    );
    expect(made).toMatchObject({ name: 'mcp_tool_use', callId: 'c' });
  });
});

describe('the to-do list', () => {
  const todos = [{ content: 'Look', status: 'pending' }];

  test('the to-do list is not an item while it is empty or unreadable', () => {
    const { outputItems } = recordTurn(
      answer([call('a', 'TaskList'), call('b', 'TodoWrite', { todos: 7 })]),
      inUsersName([result('a', 'No tasks.'), result('b', 'Done.')]),
    );
    expect(outputItems).toEqual([]);
  });

  test('a call for the to-do list that fails is shown with its name and error', () => {
    const failed = result('a', 'No such task.', { is_error: true });
    const { outputItems } = recordTurn(answer([call('a', 'TaskUpdate')]), inUsersName([failed]));
    expect(outputItems).toMatchObject([
      { type: 'function_call', callId: 'a', name: 'TaskUpdate' },
      { callId: 'a', output: 'No such task.', success: false },
    ]);
  });

  test('the to-do list is one item, even after several changes, and its calls are not shown', () => {
    const done = [{ content: 'Look', status: 'completed' }];
    const response = recordTurn(
      answer([call('a', 'TodoWrite', { todos }), call('b', 'TodoWrite', { todos: done })]),
      inUsersName([result('a', 'Modified.'), result('b', 'Modified.')]),
    );
    expect(response.outputItems).toMatchObject([{ type: 'plan', entries: done }]);
  });

  test('the to-do list has one `item_start` per turn', () => {
    const { drafts, send } = startTranslator();
    send(answer([call('a', 'TodoWrite', { todos }), call('b', 'TodoWrite', { todos })]));
    const starts = drafts.filter(({ payload }) => payload.type === 'item_start');
    expect(starts).toHaveLength(1);
  });

  test('a call for the to-do list is not shown while its arguments stream', () => {
    const streamed = (event: object) => ({ type: 'stream_event', event });
    const { drafts, send } = startTranslator();
    send(
      streamed({ type: 'message_start', message: { id: 'm', model: 'model' } }),
      streamed({ type: 'content_block_start', index: 0, content_block: call('a', 'TodoWrite') }),
    );
    expect(drafts.map(({ payload }) => payload.type)).toEqual(['response_start']);
  });
});
