import { expect, test } from 'vitest';
import { foldTurn, itemsOf, textsIn } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const chunk =
  (sessionUpdate: string) =>
  (text: string, messageId?: string | null): unknown => ({
    sessionUpdate,
    content: { type: 'text', text },
    ...(messageId !== undefined && { messageId }),
  });
const say = chunk('agent_message_chunk');
const think = chunk('agent_thought_chunk');
const user = chunk('user_message_chunk');
const show = (content: unknown, sessionUpdate = 'agent_message_chunk'): unknown => ({
  sessionUpdate,
  content,
});

const hear = (...updates: unknown[]) => foldTurn(recordTurn(updates).drafts, 'turn');
const said = (...updates: unknown[]) => textsIn(hear(...updates));

test('adjacent chunks of one speaker are one item, with a delta for each chunk', () => {
  const { drafts } = recordTurn([say('Hel'), say('lo.')]);
  const deltas = drafts.flatMap(({ payload }) =>
    payload.type === 'item_delta' ? [payload.deltaContent] : [],
  );
  expect(deltas).toEqual(['Hel', 'lo.']);
  expect(textsIn(foldTurn(drafts, 'turn'))).toEqual([['agent', 'Hello.']]);
});

test('a thought divides two messages, and a message divides two thoughts', () => {
  expect(said(think('Hm. '), think('Yes.'), say('One.'), think('And?'), say('Two.'))).toEqual([
    ['thought', 'Hm. Yes.'],
    ['agent', 'One.'],
    ['thought', 'And?'],
    ['agent', 'Two.'],
  ]);
});

test('a different message id begins a new message; a missing or null id begins no new message', () => {
  const updates = [say('One', 'a'), say(' more', null), say(' word.'), say('Two', 'b')];
  expect(said(...updates)).toEqual([
    ['agent', 'One more word.'],
    ['agent', 'Two'],
  ]);
});

test.each([
  ['a tool call', { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look' }],
  [
    'a plan',
    { sessionUpdate: 'plan', entries: [{ content: 'A', priority: 'high', status: 'pending' }] },
  ],
])('%s divides two messages', (_name, update) => {
  expect(said(say('Before.'), update, say('After.'))).toEqual([
    ['agent', 'Before.'],
    ['agent', 'After.'],
  ]);
});

test.each(['completed', 'failed', 'in_progress'])(
  'a call that becomes %s divides two messages, with and without message ids',
  (status) => {
    const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look', status: 'pending' };
    const news = { sessionUpdate: 'tool_call_update', toolCallId: 'c', status };
    for (const id of [undefined, 'm']) {
      expect(said(call, say('made.txt', id), news, say('Written.', id))).toEqual([
        ['agent', 'made.txt'],
        ['agent', 'Written.'],
      ]);
    }
  },
);

test('a permission request divides two messages', () => {
  const hearing = startTranslator();
  hearing.translator.begin('turn', 'Do it.', timestamp);
  const call = { toolCallId: 'c', title: 'Look', status: 'pending' };
  hearing.send({ sessionUpdate: 'tool_call', ...call }, say('May I?'));
  hearing.translator.toolCall(call, timestamp);
  hearing.send(say('Thanks.'));
  hearing.translator.finish({ stopReason: 'end_turn' }, timestamp);
  expect(textsIn(foldTurn(hearing.drafts, 'turn'))).toEqual([
    ['agent', 'May I?'],
    ['agent', 'Thanks.'],
  ]);
});

test('a running call’s output, usage and settings do not divide a message', () => {
  const call = {
    sessionUpdate: 'tool_call',
    toolCallId: 'c',
    title: 'Look',
    status: 'in_progress',
  };
  const output = [{ type: 'content', content: { type: 'text', text: 'more' } }];
  const updates = [
    call,
    say('One '),
    { sessionUpdate: 'tool_call_update', toolCallId: 'c', content: output },
    { sessionUpdate: 'tool_call_update', toolCallId: 'c', status: 'in_progress', content: output },
    { sessionUpdate: 'usage_update', used: 1, size: 2 },
    { sessionUpdate: 'available_commands_update', availableCommands: [] },
    say('message.'),
  ];
  expect(said(...updates)).toEqual([['agent', 'One message.']]);
});

test('empty chunks make no item, and do not divide a message', () => {
  expect(said(say('One '), think(''), say('message.'))).toEqual([['agent', 'One message.']]);
  expect(said(say(''), think(''), say('', 'a'))).toEqual([]);
});

test('images, audio and resources are blocks of their message', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==', uri: null };
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a', size: null };
  const file = { type: 'resource', resource: { uri: 'file:///b', text: 'b', mimeType: null } };
  const audio = { type: 'audio', mimeType: 'audio/wav', data: 'AA==' };
  const response = hear(say('Look: '), show(image), show(link), show(file), show(audio), say('!'));
  const [, message] = itemsOf(response, 'message');
  expect(message).toMatchObject({
    content: 'Look: !',
    blocks: [
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
      audio,
    ],
  });
});

test('fields of a block that cannot be shown are kept as raw values of the message', () => {
  const video = { type: 'video', data: 'AA==' };
  const noted = { type: 'text', text: 'Hi.', annotations: { priority: 1 } };
  const [, message] = itemsOf(hear(show(noted), show(video)), 'message');
  expect(message).toMatchObject({ content: 'Hi.', raw: [{ annotations: { priority: 1 } }, video] });
});

test('a chunk with an unknown field is shown, and the field is kept', () => {
  const odd = { ...(say('Hi.') as object), _meta: { tone: 'kind' } };
  const [, message] = itemsOf(hear(odd), 'message');
  expect(message).toMatchObject({ content: 'Hi.', raw: [{ _meta: { tone: 'kind' } }] });
});

test('a block with an unknown field is shown, and the field is kept', () => {
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a', annotations: { priority: 1 } };
  const file = { type: 'resource', resource: { uri: 'file:///b', text: 'b', _meta: { x: 1 } } };
  const [, message] = itemsOf(hear(show(link), show(file)), 'message');
  expect(message).toMatchObject({
    blocks: [
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
    ],
    raw: [{ annotations: { priority: 1 } }, { resource: { _meta: { x: 1 } } }],
  });
});

test('an image in a thought is kept as a raw value of the thought', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
  const [thought] = itemsOf(hear(think('Hm.'), show(image, 'agent_thought_chunk')), 'reasoning');
  expect(thought).toMatchObject({ content: 'Hm.', raw: [image] });
});

test('the echo of the user’s message is not shown again, in one chunk or in many', () => {
  expect(said(user('Do it.'), say('Done.'))).toEqual([['agent', 'Done.']]);
  expect(said(user('Do'), user(' it.'), say('Done.'))).toEqual([['agent', 'Done.']]);
});

test('text that an agent sends in the user’s name, and that is not an echo, is shown', () => {
  expect(said(say('Well.'), user('Do'), user(' something else.'), say('Done.'))).toEqual([
    ['agent', 'Well.'],
    ['user', 'Do something else.'],
    ['agent', 'Done.'],
  ]);
  expect(said(user('Do it.'), user('Do it.'))).toEqual([['user', 'Do it.']]);
});

test('an incomplete echo is shown where it arrives', () => {
  expect(said(user('Do'), say('Done.'))).toEqual([
    ['user', 'Do'],
    ['agent', 'Done.'],
  ]);
  expect(said(user('Do'))).toEqual([['user', 'Do']]);
});

test('only chunks before the answer count as an echo', () => {
  expect(said(say('Well.'), user('Do it.'))).toEqual([
    ['agent', 'Well.'],
    ['user', 'Do it.'],
  ]);
});

test('an answer and a thought that repeat the question are shown', () => {
  expect(said(think('Do it.'), say('Do it.'), user('Do it.'))).toEqual([
    ['thought', 'Do it.'],
    ['agent', 'Do it.'],
    ['user', 'Do it.'],
  ]);
});

test('texts of subagents of different calls are separate messages', () => {
  const of = (id: string) => ({ _meta: { parentToolCallId: id } });
  const updates = [
    { ...(say('One.') as object), ...of('a') },
    { ...(say('Two.') as object), ...of('b') },
  ];
  const messages = itemsOf(hear(...updates), 'message').slice(1);
  expect(messages.map(({ content, parentCallId }) => [content, parentCallId])).toEqual([
    ['One.', 'a'],
    ['Two.', 'b'],
  ]);
});

test('a message that gets its id only with a later chunk ends when another id arrives', () => {
  expect(said(say('One'), say(' more', 'a'), say('Two', 'b'))).toEqual([
    ['agent', 'One more'],
    ['agent', 'Two'],
  ]);
});

test('a message with very many images is split, so that no update has more than 50 images', () => {
  const images = Array.from({ length: 130 }, (_, n) => ({
    type: 'image',
    mimeType: 'image/png',
    data: Buffer.from(`image ${n}`).toString('base64'),
  }));
  const { drafts } = recordTurn([say('Look: '), ...images.map((one) => show(one)), say('All.')]);
  const messages = itemsOf(foldTurn(drafts, 'turn'), 'message').slice(1);
  expect(messages.map(({ content, blocks = [] }) => [content, blocks.length])).toEqual([
    ['Look: ', 50],
    ['', 50],
    ['All.', 30],
  ]);
  expect(messages.flatMap(({ blocks = [] }) => blocks)).toEqual(images);
  const counts = drafts.flatMap(({ payload }) =>
    payload.type === 'item_delta' ? (payload.patch?.blocks?.length ?? 0) : 0,
  );
  expect(Math.max(...counts)).toBe(50);
});
