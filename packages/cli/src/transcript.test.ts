import type { TurnView } from '@liminal/client';
import type { UpsertObject } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { Transcript } from './transcript.ts';

function thought(itemId: string, status: UpsertObject['status']): UpsertObject {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    type: 'thinking',
    turnId: 't',
    sessionId: 's',
    itemId,
    sourceTimestamp: at,
    emittedAt: at,
    status,
    content: itemId,
    providerId: 'p',
  };
}

function keys(transcript: Transcript, turn: Omit<TurnView, 'turnId'>): string[] {
  return transcript
    .read({ turns: [{ turnId: 't', ...turn }] })
    .map((line) => (line.kind === 'turn' ? 'end' : `${line.kind} ${line.item.itemId}`));
}

test('each item is returned once, after the item has finished', () => {
  const transcript = new Transcript();
  const status = 'in_progress';
  expect(keys(transcript, { status, items: [thought('a', 'update')] })).toEqual([]);
  const second = [thought('a', 'complete'), thought('b', 'create')];
  expect(keys(transcript, { status, items: second })).toEqual(['item a']);
  expect(keys(transcript, { status, items: second })).toEqual([]);
});

test('when a turn ends, all its items have finished, and the end is returned once', () => {
  const transcript = new Transcript();
  const items = [thought('a', 'complete'), thought('b', 'update')];
  expect(keys(transcript, { status: 'aborted', items })).toEqual(['item a', 'item b', 'end']);
  expect(keys(transcript, { status: 'aborted', items })).toEqual([]);
});

test('a permission request is returned while it waits, and returned again with its outcome', () => {
  const transcript = new Transcript();
  const request: UpsertObject = {
    ...thought('q', 'create'),
    type: 'approval',
    approvalId: 'q',
    title: 'May I?',
    options: [],
  };
  expect(keys(transcript, { status: 'in_progress', items: [request] })).toEqual(['approval q']);
  const answered = { ...request, status: 'complete' as const };
  expect(keys(transcript, { status: 'in_progress', items: [answered] })).toEqual(['item q']);
});
