import type { EventDraft } from '@liminal/protocol';
import { loadClaudeRecording } from '@liminal/testkit';
import { expect, test } from 'vitest';
import { describeOrigin } from './origin.ts';
import { startTranslator, timestamp } from './testing/recorded-translator.ts';
import { foldTurns } from '../../../testing/folding.ts';

const byItself = 'Claude Code went on by itself.';

test.each([
  [{ kind: 'channel', server: 'chat' }, 'A message came through the channel “chat”.'],
  [{ kind: 'peer', from: 's2' }, 'Another session sent a message: “s2”.'],
  [{ kind: 'peer', from: 's2', name: 'Docs' }, 'Another session sent a message: “Docs”.'],
  [{ kind: 'peer', from: 's2', body: 'Hi.' }, 'Another session sent a message: “s2”.\n\nHi.'],
  [{ kind: 'peer', from: 'a', senderTaskId: 't' }, 'A subagent sent a message: “a”.'],
  [{ kind: 'peer' }, 'Another session sent a message.'],
  [{ kind: 'coordinator' }, 'The session that coordinates this one sent a message.'],
  [{ kind: 'observer', from: 'o', senderTaskId: 't' }, 'An observer sent a message: “o”.'],
  [{ kind: 'observer-activity' }, 'An observer of this session was active.'],
  [{ kind: 'auto-continuation' }, byItself],
  [{ kind: 'unclassified' }, 'A message came from an unknown sender.'],
  [{ kind: 'task-notification' }, 'A background task sent a report.'],
  [{ kind: 'task-notification', subkind: 'scheduled-trigger' }, 'A scheduled task was started.'],
  [
    { kind: 'task-notification', subkind: 'scheduled-trigger', fireReason: 'scheduled' },
    'A scheduled task was started.',
  ],
  [
    { kind: 'task-notification', subkind: 'scheduled-trigger', fireReason: 'catch_up' },
    'A scheduled task was started (catch_up).',
  ],
  [
    { kind: 'task-notification', subkind: 'peer-send-message' },
    'Another of your sessions sent a message.',
  ],
  [
    { kind: 'task-notification', subkind: 'projects-relay' },
    'Another session of the project forwarded a message.',
  ],
  [
    { kind: 'task-notification', subkind: 'session-inbox' },
    'A message came into the inbox of this session.',
  ],
  [
    { kind: 'task-notification', subkind: 'external-event' },
    'Something happened outside of this session.',
  ],
  [{ kind: 'task-notification', subkind: 'eclipse' }, 'A message came from “eclipse”.'],
  [{ kind: 'toString' }, 'A message came from “toString”.'],
  [{ kind: 'human' }, undefined],
  [undefined, undefined],
])('the text about the origin %j is: %s', (origin, why) => {
  expect(describeOrigin(origin)).toBe(why);
});

test('another sender’s message is shown with its origin, but Claude Code’s text for its model is not shown', () => {
  expect(describeOrigin({ kind: 'coordinator' }, 'Hurry.')).toMatch(/\n\nHurry\.$/);
  expect(describeOrigin({ kind: 'eclipse' }, 'It is dark.')).toMatch(/\n\nIt is dark\.$/);
  expect(describeOrigin({ kind: 'peer', body: 'Hi.' }, '<peer>Hi.</peer>')).toMatch(/\n\nHi\.$/);
  expect(describeOrigin({ kind: 'auto-continuation' }, 'Go on.')).toBe(byItself);
});

const requesting = { type: 'system', subtype: 'status', status: 'requesting' };
const say = {
  type: 'assistant',
  message: { id: 'm', model: 'm', content: [{ type: 'text', text: 'Hi.' }] },
};
const result = (origin?: unknown) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  origin,
});
const from = (origin: unknown, text = 'Psst.') => ({
  type: 'user',
  message: { content: [{ type: 'text', text }] },
  origin,
});

const contents = (drafts: readonly EventDraft[]): unknown[] =>
  [...foldTurns(drafts).values()].map(({ outputItems }) =>
    outputItems.map((item) => 'content' in item && item.content),
  );

/** The messages of each turn after reading these messages of Claude Code. */
function told(...messages: unknown[]): unknown[] {
  const { send, all } = startTranslator();
  send(...messages);
  return contents(all);
}

test('a turn that Claude Code begins by itself first shows only that it did, and then shows the origin if the result has an origin', () => {
  const { send, all } = startTranslator();
  send(requesting);
  expect(contents(all)).toEqual([[byItself]]);
  send(say, result({ kind: 'channel', server: 'chat' }));
  expect(contents(all)).toEqual([['A message came through the channel “chat”.', 'Hi.']]);
});

test.each([undefined, 7, { kind: 7 }, { kind: 'human' }])(
  'a turn whose result has the origin %j shows only that Claude Code began it',
  (origin) => {
    expect(told(requesting, say, result(origin))).toEqual([[byItself, 'Hi.']]);
  },
);

test('a turn that ends before its result shows only that Claude Code began it', () => {
  const { send, all, translator } = startTranslator();
  send(requesting);
  const error = { code: 'PROCESS_CRASH', message: 'Gone.' };
  translator.end({ type: 'response_error', error }, timestamp);
  expect(foldTurns(all).get('unasked-1')?.outputItems).toMatchObject([{ content: byItself }]);
  expect(foldTurns(all).get('unasked-1')?.outputItems[0]).not.toHaveProperty('error');
});

test('the end of a task is shown once, as the reason for the next turn', async () => {
  const { send, all } = startTranslator();
  const { entries } = await loadClaudeRecording('background-command');
  send(...entries.flatMap((entry) => ('sdk' in entry ? entry.sdk : [])));
  expect(contents(all).at(-1)).toEqual([
    'Background command "sleep 1; echo finished" completed (exit code 0)',
    'It has finished.',
  ]);
});

test('after the end of a task, another reason for the turn is also shown', () => {
  const level = { type: 'system', subtype: 'background_tasks_changed' };
  const end = { type: 'system', subtype: 'task_notification', task_id: 'a', summary: 'Done.' };
  const origin = { kind: 'task-notification', subkind: 'scheduled-trigger' };
  expect(
    told({ ...level, tasks: [{ task_id: 'a' }] }, end, requesting, say, result(origin)),
  ).toEqual([['Done.', 'Hi.', 'A scheduled task was started.']]);
});

test('another sender’s message is shown where it arrives; before a turn’s first answer, it is the turn’s reason', () => {
  const peer = { kind: 'peer', from: 's2' };
  const why = 'Another session sent a message: “s2”.\n\nPsst.';
  expect(told(from(peer), requesting, say, result(peer))).toEqual([[why, 'Hi.']]);
  expect(told(requesting, from(peer), say, from(peer), result())).toEqual([[why, 'Hi.', why]]);
  expect(told(requesting, say, from(peer), result({ kind: 'coordinator' }))).toEqual([
    [describeOrigin({ kind: 'coordinator' }), 'Hi.', why],
  ]);
  expect(told(requesting, say, from({ kind: 'task-notification' }), result())).toEqual([
    [byItself, 'Hi.'],
  ]);
});

test('a turn for a person’s message shows no origin', () => {
  const { translator, send, all } = startTranslator();
  translator.expect({ uuid: 'u', turnId: 'turn-1', text: 'Go.' });
  send({ ...requesting, user_message_uuid: 'u' }, say, result({ kind: 'auto-continuation' }));
  expect(contents(all)).toEqual([['Go.', 'Hi.']]);
});
