import type { UpsertObject } from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import { cleanText } from './clean-text.ts';
import { formatLine } from './lines.ts';

const base = {
  turnId: 't',
  sessionId: 's',
  itemId: 'i',
  sourceTimestamp: '2026-01-01T00:00:00.000Z',
  emittedAt: '2026-01-01T00:00:00.000Z',
  status: 'complete' as const,
};
const tool = { ...base, type: 'tool_call' as const, toolName: 'Bash', callId: 'c' };
const approval = {
  ...base,
  type: 'approval' as const,
  approvalId: 'a',
  title: 'Run rm?',
  options: [{ optionId: 'no', name: 'Reject', kind: 'reject_once' as const }],
};

describe('an item as a line', () => {
  test.each<[string, UpsertObject]>([
    ['> hello', { ...base, type: 'message', origin: 'user', content: 'hello' }],
    ['hi there', { ...base, type: 'message', origin: 'agent', content: 'hi there' }],
    ['~ let me see', { ...base, type: 'thinking', content: 'let\n me see', providerId: 'p' }],
    ['* List files', { ...tool, toolArguments: {}, title: 'List files', durationMs: 999 }],
    ['* List files (1 s)', { ...tool, toolArguments: {}, title: 'List files', durationMs: 1000 }],
    [
      '* Script',
      { ...tool, toolName: 'run_script', title: 'Script', toolArguments: { code: '1' } },
    ],
    [
      '',
      {
        ...tool,
        toolName: 'script',
        callId: 'i',
        parentCallId: 'c',
        toolArguments: { code: '1' },
      },
    ],
    ['* Bash {"command":"ls"}', { ...tool, toolArguments: { command: 'ls' } }],
    [
      '* List (73 s) failed: no such folder',
      {
        ...tool,
        toolArguments: {},
        durationMs: 72_600,
        title: 'List',
        toolOutput: 'no such folder',
        toolOutputIsError: true,
      },
    ],
    [
      '[x] one\n[>] two',
      {
        ...base,
        type: 'plan',
        entries: [
          { content: 'one', priority: 'low', status: 'completed' },
          { content: 'two', priority: 'low', status: 'in_progress' },
        ],
      },
    ],
    [
      '= 2 files changed: /p/a.ts, /p/b.ts',
      {
        ...base,
        type: 'file_changes',
        diffs: [
          { path: '/p/a.ts', oldText: 'a', newText: 'b' },
          { path: '/p/a.ts', oldText: 'c', newText: 'd' },
          { path: '/p/b.ts', newText: 'e' },
        ],
      },
    ],
    ['', { ...base, type: 'file_changes', diffs: [] }],
    ['? Run rm?: Reject', { ...approval, outcome: { outcome: 'selected', optionId: 'no' } }],
    [
      '? Run rm?: Reject: not here',
      { ...approval, outcome: { outcome: 'selected', optionId: 'no', note: 'not here' } },
    ],
    ['? Run rm?: nobody answered', { ...approval, outcome: { outcome: 'cancelled' } }],
    ['! out of credit', { ...base, type: 'error', errorCode: 'X', errorMessage: 'out of credit' }],
  ])('%s', (text, item) => {
    expect(formatLine({ kind: 'item', item })).toBe(text);
  });
});

test('for the end of a turn, there is a line only if the turn did not complete normally', () => {
  const turn = { turnId: 't', items: [] };
  expect(formatLine({ kind: 'turn', turn: { ...turn, status: 'complete' } })).toBe('');
  expect(formatLine({ kind: 'turn', turn: { ...turn, status: 'aborted' } })).toContain('stopped');
  const cut = { ...turn, status: 'complete', finishReason: 'max_tokens' } as const;
  expect(formatLine({ kind: 'turn', turn: cut })).toBe(
    '! Stopped: the answer reached its length limit.',
  );
  const error = { code: 'X', message: 'the model is busy' };
  expect(formatLine({ kind: 'turn', turn: { ...turn, status: 'error', error } })).toContain(
    'the model is busy',
  );
});

test('while a permission request waits, the request is shown below its description', () => {
  const item = { ...approval, status: 'create' as const };
  expect(formatLine({ kind: 'approval', item })).toBe('? Run rm? (waits for an answer)');
  const described = { ...item, description: 'To tidy up.' };
  expect(formatLine({ kind: 'approval', item: described })).toBe(
    '│ To tidy up.\n? Run rm? (waits for an answer)',
  );
});

test('SAFE: a permission request is never shortened', () => {
  const item = { ...approval, title: 'Run \u001b]0;$(reboot)\u0007ls', status: 'create' as const };
  const seen = '? Run ‹U+001B›]0;$(reboot)‹U+0007›ls';
  expect(cleanText(formatLine({ kind: 'approval', item }))).toBe(`${seen} (waits for an answer)`);
  const outcome = { outcome: 'selected' as const, optionId: 'no' };
  const answered = { ...item, outcome, status: 'complete' as const };
  expect(cleanText(formatLine({ kind: 'item', item: answered }))).toBe(`${seen}: Reject`);
  const call = { ...tool, toolArguments: {}, title: item.title };
  expect(cleanText(formatLine({ kind: 'item', item: call }))).toBe(seen.replace('?', '*'));
});

test('SAFE: if a long line is cut, no character is cut apart', () => {
  const call = { ...tool, toolArguments: {}, title: `${'x'.repeat(98)}😀😀` };
  expect(formatLine({ kind: 'item', item: call })).toBe(`* ${'x'.repeat(98)}…`);
});
