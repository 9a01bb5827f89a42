import type { OutputItem } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { blockCallOf, blockIn } from './script-block.ts';

const says = (id: string, content: string, origin: 'agent' | 'user' = 'agent'): OutputItem => ({
  type: 'message',
  id,
  content,
  origin,
});
const block = '```liminal-script\nreturn 1;\n```';

test('the script in an answer becomes a call of the turn, with an id made from the message with the block', () => {
  const callId = blockCallOf('b');
  expect(callId).toMatch(/^script_[0-9a-f]{32}$/);
  expect(blockCallOf('b')).toBe(callId);
  expect(blockCallOf('c')).not.toBe(callId);
  const called = {
    callId,
    name: 'run_script',
    arguments: JSON.stringify({ code: 'return 1;' }),
  };
  expect(blockIn([says('a', 'I count.'), says('b', block)], 'stop')).toEqual({
    ...called,
    itemId: callId,
    item: {
      type: 'function_call',
      id: callId,
      ...called,
      title: 'Script',
      kind: 'execute',
      origin: 'agent',
    },
  });
});

test('empty messages, and messages of others than the model, are ignored', () => {
  const answer = [says('a', block), says('b', ' \n'), says('c', 'More.', 'user')];
  expect(blockIn(answer, 'stop')?.callId).toBe(blockCallOf('a'));
  expect(blockIn([says('a', block, 'user')], 'stop')).toBeUndefined();
});

test('an answer without a script, or without text, has no call', () => {
  expect(blockIn([says('a', 'Four.')], 'stop')).toBeUndefined();
  expect(blockIn([], 'stop')).toBeUndefined();
});

test('several messages of one answer are read as one text', () => {
  const answer = [says('a', '```liminal-script'), says('b', 'return 1;\n```')];
  expect(blockIn(answer, 'stop')?.arguments).toBe(JSON.stringify({ code: '\nreturn 1;' }));
});

test('an invalid script block is not run, and its call has an error message', () => {
  const call = blockIn([says('a', '```liminal-script\nreturn 1;')], 'stop');
  expect(call).toMatchObject({ arguments: '{}' });
  expect(call?.problem).toContain('the block is not closed');
});

test.each(['length', 'MAX_TOKENS', 'content_filter', 'refusal', 'safety', 'error'])(
  'the script in an answer that ended because of %s is not run',
  (reason) => {
    const call = blockIn([says('a', block)], reason);
    expect(call?.arguments).toBe('{}');
    expect(call?.problem).toBe(
      `It was not run: your answer was cut off (${reason}), and may not be whole. Write it again, and shorter.`,
    );
  },
);
