import { describe, expect, test } from 'vitest';
import type { ItemStartPayload } from '../events.ts';
import type { ItemPatch, OutputItem } from '../items.ts';
import { itemStart, patchItem, startItem } from './start-item.ts';

const startedAt = '2026-01-01T00:00:00.000Z';
const start = (fields: Omit<ItemStartPayload, 'type' | 'itemId'>) =>
  startItem({ type: 'item_start', itemId: 'i', ...fields }, startedAt);
const base = { id: 'i', startedAt };
const option = { optionId: 'yes', name: 'Yes', kind: 'allow_once' as const };
const diff = { path: 'a', newText: 'b' };
const entry = { content: 'Look', priority: 'high' as const, status: 'pending' as const };

describe('an item whose start has only a type has only required fields', () => {
  test.each<[ItemStartPayload['itemType'], object]>([
    ['message', { content: '', origin: 'agent' }],
    ['reasoning', { content: '', origin: 'agent' }],
    ['function_call', { name: '', arguments: '', callId: 'i', origin: 'agent' }],
    ['function_call_output', { callId: 'i', output: '', success: true, origin: 'system' }],
    ['script_execution', { code: '', origin: 'agent' }],
    [
      'script_execution_output',
      { scriptId: 'i', result: '', success: true, origin: 'script_harness' },
    ],
    ['error', { code: 'UNKNOWN_ERROR', message: '', origin: 'system' }],
    ['plan', { entries: [] }],
    ['file_changes', { diffs: [] }],
    ['approval', { approvalId: 'i', title: '', options: [] }],
  ])('%s', (itemType, fields) => {
    expect(start({ itemType })).toStrictEqual({ ...base, type: itemType, ...fields });
  });
});

describe('an item has the fields of its start, and its start can be made from the item', () => {
  test.each<[Omit<ItemStartPayload, 'type' | 'itemId'>, object]>([
    [
      { itemType: 'message', origin: 'user', parentCallId: 'p' },
      { origin: 'user', parentCallId: 'p' },
    ],
    [{ itemType: 'message', correlationId: 'r' }, { correlationId: 'r' }],
    [{ itemType: 'reasoning', origin: 'system' }, { origin: 'system' }],
    [{ itemType: 'reasoning', origin: 'user' }, { origin: 'agent' }],
    [
      { itemType: 'function_call', name: 'Read', callId: 'c', title: 'Read a', kind: 'read' },
      { name: 'Read', callId: 'c', title: 'Read a', kind: 'read' },
    ],
    [
      {
        itemType: 'function_call',
        arguments: '{}',
        initialContent: 'x',
        locations: [{ path: 'a' }],
      },
      { arguments: '{}', locations: [{ path: 'a' }] },
    ],
    [{ itemType: 'function_call_output', callId: 'c' }, { callId: 'c' }],
    [{ itemType: 'script_execution', code: '1', initialContent: 'x' }, { code: '1' }],
    [{ itemType: 'script_execution_output', callId: 's' }, { scriptId: 's' }],
    [{ itemType: 'plan', entries: [entry] }, { entries: [entry] }],
    [{ itemType: 'file_changes', diffs: [diff] }, { diffs: [diff] }],
    [
      { itemType: 'approval', approvalId: 'a', title: 'May I?', callId: 'c', options: [option] },
      { approvalId: 'a', title: 'May I?', callId: 'c', options: [option] },
    ],
    [
      { itemType: 'approval', description: 'Why', deadline: startedAt, form: { properties: {} } },
      { description: 'Why', deadline: startedAt, form: { properties: {} } },
    ],
    [
      { itemType: 'approval', asked: { name: 'a', arguments: '{}' }, earlier: { title: 'b' } },
      { asked: { name: 'a', arguments: '{}' }, earlier: { title: 'b' } },
    ],
  ])('%j', (told, fields) => {
    expect(start(told)).toMatchObject(fields);
    const { initialContent: _, ...known } = told;
    const item = start(known);
    expect(startItem(itemStart(item), startedAt)).toStrictEqual(item);
  });
});

describe('a patch replaces only fields that the item’s type has', () => {
  const patch: Required<ItemPatch> = {
    raw: 1,
    // An item's text, which the fold stores separately.
    arguments: '{}',
    title: 'Title',
    kind: 'read',
    locations: [{ path: 'a' }],
    diffs: [diff],
    blocks: [{ type: 'audio', mimeType: 'audio/wav', data: 'A' }],
    entries: [entry],
  };

  test.each<[OutputItem['type'], (keyof ItemPatch)[]]>([
    ['message', ['raw', 'blocks']],
    ['reasoning', ['raw']],
    ['function_call', ['raw', 'title', 'kind', 'locations', 'diffs']],
    ['function_call_output', ['raw', 'blocks', 'diffs']],
    ['script_execution', ['raw']],
    ['script_execution_output', ['raw']],
    ['error', ['raw']],
    ['plan', ['raw', 'entries']],
    ['file_changes', ['raw', 'diffs']],
    // An approval item has its question as the title.
    ['approval', ['raw']],
  ])('%s', (itemType, keys) => {
    const item = start({ itemType, title: 'As asked' });
    const changed = Object.fromEntries(keys.map((key) => [key, patch[key]]));
    expect(patchItem(item, patch)).toStrictEqual({ ...item, ...changed });
    expect(patchItem(item, {})).toStrictEqual(item);
  });
});
