import { describe, expect, test } from 'vitest';
import { foldTurn, itemsOf, payloadsOf, textsIn } from '../../../testing/folding.ts';
import { recordTurn, startTranslator, timestamp } from './testing/recorded-translator.ts';

const say = (text: string, more: object = {}) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  ...more,
});
const user = (text: string, more: object = {}) => ({
  ...say(text, more),
  sessionUpdate: 'user_message_chunk',
});
const hear = (...updates: unknown[]) => foldTurn(recordTurn(updates).drafts, 'turn');
const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };

/** Returns the items of a turn that ends with an error after these updates. */
function breakAfter(...updates: unknown[]) {
  const { translator, drafts, send } = startTranslator();
  translator.begin('turn', 'Do it.', timestamp);
  send(...updates);
  translator.end({ type: 'response_error', error }, timestamp);
  return foldTurn(drafts, 'turn').outputItems.slice(1);
}

describe('turns that end with an error', () => {
  const odd = { sessionUpdate: 'hologram' };

  test('a turn that ends with an error and has no text keeps unknown updates in a system message', () => {
    expect(breakAfter(odd)).toMatchObject([
      {
        origin: 'system',
        content: 'The agent sent something that cannot be shown here.',
        raw: [odd],
      },
    ]);
  });

  test('a turn that ends with an error keeps unknown updates even if its text has already ended', () => {
    const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look' };
    const items = breakAfter(say('Hi.'), call, odd);
    expect(items.find((item) => item.raw !== undefined)?.raw).toEqual([odd]);
  });

  test('a text that is interrupted by an error, without unknown updates, has no raw value', () => {
    const [item] = breakAfter(say('Half'));
    expect(item).toMatchObject({ content: 'Half', error });
    expect(item).not.toHaveProperty('raw');
  });

  test('if a turn ends with an error during an echo, the beginning of the echo is shown', () => {
    expect(breakAfter(user('Do'))).toMatchObject([{ content: 'Do', origin: 'user' }]);
  });
});

test('unknown updates stay with the text of a turn that the next message ends', () => {
  const { translator, drafts, send } = startTranslator();
  send(say('Hi.'), { sessionUpdate: 'hologram' });
  translator.begin('turn', 'Do it.', timestamp);
  expect(foldTurn(drafts, 'own-1').outputItems).toMatchObject([
    { content: 'Hi.', raw: [{ sessionUpdate: 'hologram' }] },
  ]);
});

test.each([
  ['ended', { type: 'response_done', status: 'completed' } as const],
  ['broke', { type: 'response_error', error } as const],
])('raw values of a turn that %s are not repeated in the next turn', (_name, end) => {
  const { translator, drafts, send } = startTranslator();
  send(say('Half'), { sessionUpdate: 'hologram' });
  translator.end(end, timestamp);
  translator.begin('one', 'Do it.', timestamp);
  send({ sessionUpdate: 'hologram' });
  translator.end(end, timestamp);
  translator.begin('two', 'Do it.', timestamp);
  send(say('Hi.'));
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  expect(foldTurn(drafts, 'two').outputItems.at(-1)).not.toHaveProperty('raw');
});

describe('approvals', () => {
  const request = { approvalId: 'a', title: 'May I?', options: [] };

  test('an approval that is requested twice is one approval', () => {
    const { translator, drafts } = startTranslator();
    translator.openApproval(request, timestamp);
    translator.openApproval({ ...request, title: 'Again?' }, timestamp);
    expect(payloadsOf(drafts, 'own-1').map(({ type }) => type)).toEqual([
      'response_start',
      'item_start',
    ]);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'approval')).toMatchObject([{ title: 'May I?' }]);
  });

  test('an outcome with another approval’s id does not change an approval', () => {
    const { translator, drafts } = startTranslator();
    translator.openApproval(request, timestamp);
    translator.closeApproval('b', { outcome: 'cancelled' }, timestamp);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'approval')[0]).not.toHaveProperty('outcome');
  });
});

describe('user chunks', () => {
  test('a user chunk after the echo is shown in a user message', () => {
    expect(textsIn(hear(user('Do it.'), user(' And more.')))).toEqual([['user', ' And more.']]);
  });

  test('a user chunk that is not text is shown', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content: image });
    expect(outputItems.at(-1)).toMatchObject({ origin: 'user', blocks: [image] });
  });

  test.each([[{ type: 'text' }], [{ text: 'Do it.' }], [{ type: 'hologram', text: 'Do it.' }]])(
    'a user chunk that cannot be read is kept: %j',
    (content) => {
      const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content }, say('Hi.'));
      expect(outputItems.slice(1)).toMatchObject([{ content: 'Hi.', raw: [content] }]);
    },
  );

  test('a user chunk that is an echo keeps no raw value', () => {
    const content = { type: 'text', text: 'Do it.', annotations: { x: 1 } };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content }, say('Hi.'));
    expect(outputItems.at(-1)).not.toHaveProperty('raw');
  });

  test('a user chunk with only the beginning of an echo is shown before an answer that is not text', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const { outputItems } = hear(user('Do'), { ...say(''), content: image });
    expect(outputItems.slice(1)).toMatchObject([{ content: 'Do' }, { blocks: [image] }]);
  });

  test('a user chunk that is not an echo keeps its other fields', () => {
    const content = { type: 'text', text: 'Other.', annotations: { x: 1 } };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content });
    expect(outputItems.at(-1)).toMatchObject({
      content: 'Other.',
      raw: [{ annotations: { x: 1 } }],
    });
  });

  test('a user chunk after an empty chunk of the answer may still be an echo', () => {
    expect(textsIn(hear(say(''), user('Do it.'), say('Done.')))).toEqual([['agent', 'Done.']]);
  });

  test('a user chunk in a turn of the agent’s own is not an echo', () => {
    const { drafts, send } = startTranslator();
    send(user('Do it.'), say('Done.'));
    expect(foldTurn(drafts, 'own-1').outputItems).toMatchObject([
      { content: 'Do it.', origin: 'user' },
      { content: 'Done.', origin: 'agent' },
    ]);
  });
});

test('a plan divides the text before it from the text after it', () => {
  const plan = { sessionUpdate: 'plan', entries: [] };
  expect(textsIn(hear(user('Do'), plan, user(' it.')))).toEqual([
    ['user', 'Do'],
    ['user', ' it.'],
  ]);
});

test('unknown fields of a notice and of usage are kept together in one message', () => {
  const { outputItems } = hear(
    { sessionUpdate: 'notice', title: '', _meta: { x: 1 } },
    { sessionUpdate: 'usage_update', used: 1, _meta: { x: 2 } },
  );
  expect(outputItems).toHaveLength(1);
});

test('a usage update adds no raw value', () => {
  const { outputItems } = hear({ sessionUpdate: 'usage_update', used: 1 }, say('Hi.'));
  expect(outputItems.at(-1)).not.toHaveProperty('raw');
});

test('unknown fields of a chunk do not begin a message', () => {
  expect(hear(say('', { _meta: { x: 1 } })).outputItems).toHaveLength(1);
});

describe('calls that have ended', () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look', status: 'completed' };

  test.each([
    ['an announcement that it has completed', call],
    ['an announcement that it has failed', { ...call, status: 'failed' }],
    ['an update', { ...call, sessionUpdate: 'tool_call_update', status: 'in_progress' }],
  ])('a call that has ended does not begin again by %s', (_name, again) => {
    const response = hear(call, again, say('Done.'));
    expect(itemsOf(response, 'function_call')).toHaveLength(1);
    expect(response.outputItems.at(-1)).toMatchObject({ content: 'Done.', raw: [again] });
  });

  test('a call that has ended begins again by a permission request', () => {
    const { translator, drafts, send } = startTranslator();
    send(call);
    translator.toolCall({ toolCallId: 'c', title: 'Look' }, timestamp);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'function_call')).toHaveLength(2);
  });

  test('a late update of a call that has ended does not divide a message', () => {
    const late = { ...call, sessionUpdate: 'tool_call_update', rawOutput: 'late' };
    expect(textsIn(hear(call, say('One '), late, say('message.')))).toEqual([
      ['agent', 'One message.'],
    ]);
  });
});
