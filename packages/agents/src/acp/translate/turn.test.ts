import { describe, expect, test } from 'vitest';
import { foldTurn, itemsOf, payloadsOf, saidIn } from '../../testing/folding.ts';
import { hearTurn, startHearing, timestamp } from './testing/hearing.ts';

const say = (text: string, more: object = {}) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  ...more,
});
const user = (text: string, more: object = {}) => ({
  ...say(text, more),
  sessionUpdate: 'user_message_chunk',
});
const hear = (...updates: unknown[]) => foldTurn(hearTurn(updates).drafts, 'turn');
const error = { code: 'PROCESS_CRASH', message: 'It is gone.' };

/** A turn that breaks after these updates. */
function breakAfter(...updates: unknown[]) {
  const { translator, drafts, hear: told } = startHearing();
  translator.begin('turn', 'Do it.', timestamp);
  told(...updates);
  translator.end({ type: 'response_error', error }, timestamp);
  return foldTurn(drafts, 'turn').outputItems.slice(1);
}

describe('a turn that breaks', () => {
  const odd = { sessionUpdate: 'hologram' };

  test('without words has what nobody knows in a message of its own', () => {
    expect(breakAfter(odd)).toMatchObject([
      {
        origin: 'system',
        content: 'The agent sent something that cannot be shown here.',
        raw: [odd],
      },
    ]);
  });

  test('after its words have ended, too', () => {
    const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look' };
    const items = breakAfter(say('Hi.'), call, odd);
    expect(items.find((item) => item.raw !== undefined)?.raw).toEqual([odd]);
  });

  test('in a text where nothing is odd keeps nothing', () => {
    const [item] = breakAfter(say('Half'));
    expect(item).toMatchObject({ content: 'Half', error });
    expect(item).not.toHaveProperty('raw');
  });

  test('shows an echo that it had begun', () => {
    expect(breakAfter(user('Do'))).toMatchObject([{ content: 'Do', origin: 'user' }]);
  });
});

test('what nobody knows stays with the words of a turn that the next message ends', () => {
  const { translator, drafts, hear: told } = startHearing();
  told(say('Hi.'), { sessionUpdate: 'hologram' });
  translator.begin('turn', 'Do it.', timestamp);
  expect(foldTurn(drafts, 'own-1').outputItems).toMatchObject([
    { content: 'Hi.', raw: [{ sessionUpdate: 'hologram' }] },
  ]);
});

test.each([
  ['ended', { type: 'response_done', status: 'completed' } as const],
  ['broke', { type: 'response_error', error } as const],
])('what a turn that %s has shown is not told in the next one', (_name, end) => {
  const { translator, drafts, hear: told } = startHearing();
  told(say('Half'), { sessionUpdate: 'hologram' });
  translator.end(end, timestamp);
  translator.begin('one', 'Do it.', timestamp);
  told({ sessionUpdate: 'hologram' });
  translator.end(end, timestamp);
  translator.begin('two', 'Do it.', timestamp);
  told(say('Hi.'));
  translator.end({ type: 'response_done', status: 'completed' }, timestamp);
  expect(foldTurn(drafts, 'two').outputItems.at(-1)).not.toHaveProperty('raw');
});

describe('an approval', () => {
  const request = { approvalId: 'a', title: 'May I?', options: [] };

  test('that is asked twice is one', () => {
    const { translator, drafts } = startHearing();
    translator.openApproval(request, timestamp);
    translator.openApproval({ ...request, title: 'Again?' }, timestamp);
    expect(payloadsOf(drafts, 'own-1').map(({ type }) => type)).toEqual([
      'response_start',
      'item_start',
    ]);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'approval')).toMatchObject([{ title: 'May I?' }]);
  });

  test('that nobody knows has no outcome', () => {
    const { translator, drafts } = startHearing();
    translator.openApproval(request, timestamp);
    translator.closeApproval('b', { outcome: 'cancelled' }, timestamp);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'approval')[0]).not.toHaveProperty('outcome');
  });
});

describe('words in the user’s name', () => {
  test('are shown after an echo, in a message of their own kind', () => {
    expect(saidIn(hear(user('Do it.'), user(' And more.')))).toEqual([['user', ' And more.']]);
  });

  test('that are no text are shown', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content: image });
    expect(outputItems.at(-1)).toMatchObject({ origin: 'user', blocks: [image] });
  });

  test.each([[{ type: 'text' }], [{ text: 'Do it.' }], [{ type: 'hologram', text: 'Do it.' }]])(
    'that cannot be read are kept: %j',
    (content) => {
      const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content }, say('Hi.'));
      expect(outputItems.slice(1)).toMatchObject([{ content: 'Hi.', raw: [content] }]);
    },
  );

  test('that echo leave nothing behind', () => {
    const content = { type: 'text', text: 'Do it.', annotations: { x: 1 } };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content }, say('Hi.'));
    expect(outputItems.at(-1)).not.toHaveProperty('raw');
  });

  test('that begin to echo are shown before an answer that is no text', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'AA==' };
    const { outputItems } = hear(user('Do'), { ...say(''), content: image });
    expect(outputItems.slice(1)).toMatchObject([{ content: 'Do' }, { blocks: [image] }]);
  });

  test('that are no echo keep what comes with them', () => {
    const content = { type: 'text', text: 'Other.', annotations: { x: 1 } };
    const { outputItems } = hear({ sessionUpdate: 'user_message_chunk', content });
    expect(outputItems.at(-1)).toMatchObject({
      content: 'Other.',
      raw: [{ annotations: { x: 1 } }],
    });
  });

  test('that echo are none though an empty piece of an answer comes first', () => {
    expect(saidIn(hear(say(''), user('Do it.'), say('Done.')))).toEqual([['agent', 'Done.']]);
  });

  test('in a turn of the agent’s own are no echo', () => {
    const { drafts, hear: told } = startHearing();
    told(user('Do it.'), say('Done.'));
    expect(foldTurn(drafts, 'own-1').outputItems).toMatchObject([
      { content: 'Do it.', origin: 'user' },
      { content: 'Done.', origin: 'agent' },
    ]);
  });
});

test('a plan divides what is said before it from what is said after it', () => {
  const plan = { sessionUpdate: 'plan', entries: [] };
  expect(saidIn(hear(user('Do'), plan, user(' it.')))).toEqual([
    ['user', 'Do'],
    ['user', ' it.'],
  ]);
});

test('what comes with a notice or with usage makes no message of its own', () => {
  const { outputItems } = hear(
    { sessionUpdate: 'notice', title: '', _meta: { x: 1 } },
    { sessionUpdate: 'usage_update', used: 1, _meta: { x: 2 } },
  );
  expect(outputItems).toHaveLength(1);
});

test('usage leaves nothing behind with what is said', () => {
  const { outputItems } = hear({ sessionUpdate: 'usage_update', used: 1 }, say('Hi.'));
  expect(outputItems.at(-1)).not.toHaveProperty('raw');
});

test('what comes with a chunk makes no message of its own', () => {
  expect(hear(say('', { _meta: { x: 1 } })).outputItems).toHaveLength(1);
});

describe('a call that has ended', () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Look', status: 'completed' };

  test.each([
    ['an announcement that it has completed', call],
    ['an announcement that it has failed', { ...call, status: 'failed' }],
    ['an update', { ...call, sessionUpdate: 'tool_call_update', status: 'in_progress' }],
  ])('is not begun anew by %s', (_name, again) => {
    const response = hear(call, again, say('Done.'));
    expect(itemsOf(response, 'function_call')).toHaveLength(1);
    expect(response.outputItems.at(-1)).toMatchObject({ content: 'Done.', raw: [again] });
  });

  test('is begun anew by a request for permission', () => {
    const { translator, drafts, hear: told } = startHearing();
    told(call);
    translator.toolCall({ toolCallId: 'c', title: 'Look' }, timestamp);
    expect(itemsOf(foldTurn(drafts, 'own-1'), 'function_call')).toHaveLength(2);
  });

  test('leaves what is said around its late news in one message', () => {
    const late = { ...call, sessionUpdate: 'tool_call_update', rawOutput: 'late' };
    expect(saidIn(hear(call, say('One '), late, say('message.')))).toEqual([
      ['agent', 'One message.'],
    ]);
  });
});
