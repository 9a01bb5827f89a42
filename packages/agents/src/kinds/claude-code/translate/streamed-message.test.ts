import { expect, test } from 'vitest';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';
import { itemsOf } from '../../../testing/folding.ts';

const streamed = (event: object, more: object = {}) => ({ type: 'stream_event', event, ...more });
const begin = (id = 'm') => streamed({ type: 'message_start', message: { id, model: 'model' } });
const block = (index: number, content_block: object) =>
  streamed({ type: 'content_block_start', index, content_block });
const grow = (index: number, delta: object) =>
  streamed({ type: 'content_block_delta', index, delta: { type: 'delta', ...delta } });
const endWith = (stop_reason: string | null) =>
  streamed({ type: 'message_delta', delta: { stop_reason } });
const stop = streamed({ type: 'message_stop' });
const whole = (content: object, id = 'm') => ({
  type: 'assistant',
  message: { id, model: 'model', content: [content] },
});

const text = (words: string) => ({ type: 'text', text: words });
const thinking = (words: string) => ({ type: 'thinking', thinking: words });
const call = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'Bash', input });

/** The messages and calls, without the calls' outputs. */
const said = (...messages: unknown[]) =>
  recordTurn(...messages).outputItems.flatMap((item) => {
    if (item.type === 'function_call') return [`call ${item.callId}`];
    return 'content' in item ? [`${item.type} ${item.content}`] : [];
  });

test('a block keeps the text of its start event', () => {
  const begun = [begin(), block(0, thinking('Hm')), block(1, text('Hel'))];
  const grown = [grow(0, { thinking: '.' }), grow(1, { text: 'lo.' })];
  expect(said(...begun, ...grown, endWith('end_turn'), stop)).toEqual([
    'reasoning Hm.',
    'message Hello.',
  ]);
});

test('a finished answer keeps its streamed text if its blocks never arrive whole', () => {
  const { drafts, send } = startTranslator();
  send(begin(), block(0, thinking('')), block(1, text('')), block(2, text('Yes.')));
  send(endWith('end_turn'), stop);
  const ends = drafts.slice(-3).map(({ payload }) => payload);
  expect(ends).toMatchObject([
    { type: 'item_cancelled', itemId: 'unasked-1:1:0', reason: 'empty' },
    { type: 'item_cancelled', itemId: 'unasked-1:1:1', reason: 'empty' },
    { type: 'item_done', itemId: 'unasked-1:1:2', finalItem: { content: 'Yes.' } },
  ]);
});

test('the blocks of a broken stream are withdrawn at once', () => {
  const { drafts, send } = startTranslator();
  send(begin(), block(0, text('Half')), endWith(null), stop);
  expect(drafts.at(-1)?.payload).toMatchObject({ type: 'item_cancelled', reason: 'retried' });
});

test('the blocks that precede the abandoned blocks of a broken stream stay', () => {
  const broken = streamed({ type: 'message_stop' }, { abandoned_blocks: { from_block_index: 1 } });
  const blocks = [block(0, text('One.')), block(1, text('Tw')), block(2, call('c'))];
  expect(said(begin(), ...blocks, broken)).toEqual(['message One.']);
});

test('after a user’s stop, streamed text stays and streamed calls are withdrawn', () => {
  const { translator, drafts, send } = startTranslator();
  send(begin(), block(0, text('Half')), block(1, text('')), block(2, call('c')));
  translator.stop(timestamp);
  send(stop);
  const ends = drafts.slice(-3).map(({ payload }) => payload);
  expect(ends).toMatchObject([
    { type: 'item_done', finalItem: { content: 'Half' } },
    { type: 'item_cancelled', itemId: 'unasked-1:1:1', reason: 'empty' },
    { type: 'item_cancelled', itemId: 'unasked-1:1:2', reason: 'retried' },
  ]);
});

test('an abandoned call is neither shown nor answered', () => {
  const response = recordTurn(begin(), block(0, call('c')), begin('n'), whole(text('No.'), 'n'));
  expect(response.outputItems).toMatchObject([{ content: 'No.' }]);
});

test('a whole block replaces its streamed text, unless the whole block is shorter', () => {
  const longer = [block(0, text('He')), whole(text('Hello.'))];
  const shorter = [block(0, thinking('I think.')), whole(thinking('I th'))];
  expect(said(begin(), ...longer)).toEqual(['message Hello.']);
  expect(said(begin(), ...shorter)).toEqual(['reasoning I think.']);
});

test('a block that arrives whole and empty is withdrawn', () => {
  const { drafts, send } = startTranslator();
  send(begin(), block(0, thinking('')), whole({ type: 'thinking' }));
  expect(drafts.at(-1)?.payload).toMatchObject({ type: 'item_cancelled', reason: 'empty' });
});

test('whole blocks are matched to streamed blocks by their order, and whole calls by their ids', () => {
  const blocks = [block(0, text('')), block(1, text('')), block(2, call('a')), block(3, call('b'))];
  const response = recordTurn(
    begin(),
    ...blocks,
    ...[text('One.'), text('Two.'), call('b', { command: 'b' }), call('a', { command: 'a' })].map(
      (content) => whole(content),
    ),
  );
  const items = response.outputItems.map(({ id }) => id).slice(0, 4);
  expect(items).toEqual([0, 1, 2, 3].map((index) => `unasked-1:1:${index}`));
  expect(itemsOf(response, 'message').map(({ content }) => content)).toEqual(['One.', 'Two.']);
  expect(itemsOf(response, 'function_call').map(({ title }) => title)).toEqual(['Run a', 'Run b']);
});

test('whole blocks are matched to streamed blocks by their kind', () => {
  const blocks = [block(0, thinking('Hm')), block(1, text('Hel')), whole(text('Hello.'))];
  expect(said(begin(), ...blocks, endWith('end_turn'), stop)).toEqual([
    'reasoning Hm',
    'message Hello.',
  ]);
});

test('a call that arrives whole after its answer has ended begins only once', () => {
  const { drafts, send } = startTranslator();
  send(begin(), block(0, call('c')), grow(0, { partial_json: '{"comm' }));
  send(endWith('tool_use'), stop, whole(call('c', { command: 'ls' })));
  expect(drafts.slice(1).map(({ payload }) => payload)).toMatchObject([
    { type: 'item_start', callId: 'c' },
    { type: 'item_delta', deltaContent: '{"comm' },
    { type: 'item_done', finalItem: { arguments: '{"command":"ls"}' } },
  ]);
});

test('stream events without a message start are ignored', () => {
  expect(said(block(0, text('Lost.')), grow(0, { text: 'Lost.' }), stop)).toEqual([]);
});

test('a whole block of a message that is not streaming is a separate item', () => {
  expect(
    said(begin(), block(0, text('One.')), whole(text('Two.'), 'n'), whole(text('One.'))),
  ).toEqual(['message One.', 'message Two.']);
});

test('a whole block that is repeated is a separate item', () => {
  const once = [block(0, text('One.')), whole(text('One.'))];
  expect(said(begin(), ...once, whole(text('One.')))).toEqual(['message One.', 'message One.']);
});

test('deltas without a block start are ignored', () => {
  expect(
    said(begin(), grow(7, { text: 'Lost.' }), block(0, text('Kept.')), endWith('x'), stop),
  ).toEqual(['message Kept.']);
});

test('an API tool’s result in a streaming answer is the output of its call', () => {
  const searched = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'a' } };
  const found = { type: 'web_search_tool_result', tool_use_id: 's', content: 'Found.' };
  const response = recordTurn(
    begin(),
    block(0, searched),
    whole(searched),
    block(1, found),
    whole(found),
    endWith('end_turn'),
    stop,
  );
  expect(itemsOf(response, 'function_call')).toMatchObject([{ title: 'Search the web for “a”' }]);
  expect(itemsOf(response, 'function_call_output')).toMatchObject([
    { callId: 's', output: 'Found.', success: true },
  ]);
});

test('an unknown block of a streamed answer is kept', () => {
  const odd = { type: 'hologram', beam: 1 };
  const response = recordTurn(begin(), block(0, odd), whole(odd), whole(text('Look.')));
  expect(response.outputItems).toMatchObject([{ content: 'Look.', raw: [odd] }]);
});

test('a subagent’s stream events are ignored until a block is whole', () => {
  const { drafts, send } = startTranslator();
  send({ ...begin(), parent_tool_use_id: 'task' });
  expect(drafts).toEqual([]);
});
