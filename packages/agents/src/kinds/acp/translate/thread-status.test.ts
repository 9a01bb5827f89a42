/** The adapter of Codex marks a failed turn by its thread's status, and gives the reason in the last message. */
import { expect, test } from 'vitest';
import { foldTurn, textsIn } from '../../../testing/folding.ts';
import { startTranslator, timestamp } from './testing/recorded-translator.ts';

const chunk = (sessionUpdate: string, text: string, fields: object = {}) => ({
  sessionUpdate,
  content: { type: 'text', text },
  ...fields,
});
const say = (text: string, fields?: object) => chunk('agent_message_chunk', text, fields);
const status = (type: unknown) => ({
  sessionUpdate: 'session_info_update',
  _meta: { codex: { threadStatus: { type } } },
});
const failed = status('systemError');

/** Plays one turn with these updates and this stop reason. */
function hearTurn(updates: readonly unknown[], stopReason = 'end_turn') {
  const { translator, drafts, send } = startTranslator();
  translator.begin('turn', 'Do it.', timestamp);
  send(...updates);
  translator.finish({ stopReason }, timestamp);
  return { end: drafts.at(-1)?.payload, response: foldTurn(drafts, 'turn'), translator, drafts };
}

test('a turn whose thread has failed ends with an error that quotes the following message', () => {
  const half = say('Half of', { messageId: 'm' });
  const { end, response } = hearTurn([half, failed, say('The model is '), say('overloaded.\n')]);
  expect(end).toEqual({
    type: 'response_error',
    error: { code: 'AGENT_ERROR', message: 'The model is overloaded.' },
  });
  expect(textsIn(response)).toEqual([
    ['agent', 'Half of'],
    ['agent', 'The model is overloaded.\n'],
  ]);
});

test('a model’s JSON answer is shown unchanged, and the error quotes its message', () => {
  const answer = '{"error":{"type":"invalid_request_error","message":"Too long."}}';
  const { end, response } = hearTurn([failed, say(`${answer}\n\n`)]);
  expect(end).toMatchObject({ error: { message: 'Too long.' } });
  expect(textsIn(response)).toEqual([['agent', `${answer}\n\n`]]);
});

test('the reason is the agent’s own last message, not a thought or a subagent’s message', () => {
  const inner = say('Inner.', { _meta: { parentToolCallId: 'a' } });
  const others = [chunk('agent_thought_chunk', 'Hm.'), chunk('user_message_chunk', 'More.')];
  const { end } = hearTurn([failed, say('Overloaded.'), inner, ...others]);
  expect(end).toMatchObject({ error: { message: 'Overloaded.' } });
});

test.each([[[]], [[say(' \n')]]])(
  'a failed turn without a reason gets a general reason: %j',
  (said) => {
    expect(hearTurn([failed, ...said]).end).toMatchObject({
      error: { code: 'AGENT_ERROR', message: 'The agent reported an error.' },
    });
  },
);

test.each([
  ['has recovered', [failed, status('active'), say('Done.')]],
  ['has an unknown status', [status(7), { ...failed, _meta: { codex: 'systemError' } }]],
  ['has another part in its _meta', [{ ...failed, _meta: { other: failed._meta.codex } }]],
])('a turn whose thread %s has not failed', (_what, updates) => {
  expect(hearTurn(updates).end).toMatchObject({ type: 'response_done', status: 'completed' });
});

test('a stopped turn ends as stopped, whatever its thread’s status', () => {
  const { end } = hearTurn([failed, say('Interrupted.')], 'cancelled');
  expect(end).toMatchObject({ type: 'response_done', status: 'cancelled' });
});

test('the turn after a failed turn is not marked as failed', () => {
  const { translator, drafts } = hearTurn([failed, say('Overloaded.')]);
  translator.read(failed, timestamp);
  translator.begin('next', 'Again.', timestamp);
  translator.finish({ stopReason: 'end_turn' }, timestamp);
  expect(drafts.at(-1)?.payload).toMatchObject({ type: 'response_done' });
});
