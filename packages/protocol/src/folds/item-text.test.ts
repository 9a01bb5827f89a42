import { expect, test } from 'vitest';
import type { OutputItem } from '../items.ts';
import { hasContent, itemText, withText } from './item-text.ts';

const id = 'i';
const speaking: [field: string, item: OutputItem][] = [
  ['content', { id, type: 'message', content: 'old', origin: 'agent' }],
  ['content', { id, type: 'reasoning', content: 'old', origin: 'agent' }],
  [
    'arguments',
    { id, type: 'function_call', name: 'n', callId: 'c', arguments: 'old', origin: 'agent' },
  ],
  [
    'output',
    {
      id,
      type: 'function_call_output',
      callId: 'c',
      output: 'old',
      success: true,
      origin: 'system',
    },
  ],
  ['code', { id, type: 'script_execution', code: 'old', origin: 'agent' }],
  [
    'result',
    {
      id,
      type: 'script_execution_output',
      scriptId: 's',
      result: 'old',
      success: true,
      origin: 'system',
    },
  ],
  ['message', { id, type: 'error', code: 'C', message: 'old', origin: 'system' }],
];
const silent: OutputItem[] = [
  { id, type: 'plan', entries: [] },
  { id, type: 'file_changes', diffs: [] },
  { id, type: 'approval', approvalId: 'a', title: 'Run it?', options: [] },
];

test.each(speaking)('the text is in %s of %o', (field, item) => {
  expect(itemText(item)).toBe('old');
  expect(withText(item, 'new')).toEqual({ ...item, [field]: 'new' });
  expect(hasContent(item)).toBe(true);
  expect(hasContent(withText(item, ''))).toBe(false);
});

test.each(silent)('an item of type $type has no text', (item) => {
  expect(itemText(item)).toBe('');
  expect(withText(item, 'new')).toBe(item);
  expect(hasContent(item)).toBe(false);
});

test('blocks are also content', () => {
  const blocks = [{ type: 'image' as const, mimeType: 'image/png', data: 'AAAA' }];
  const item = { id, type: 'message', content: '', origin: 'agent' } as const;
  expect(hasContent({ ...item, blocks })).toBe(true);
  expect(hasContent({ ...item, blocks: [] })).toBe(false);
});
