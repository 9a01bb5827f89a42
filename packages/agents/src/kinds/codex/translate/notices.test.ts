import { expect, test } from 'vitest';
import { activityOf, noticeOf } from './notices.ts';

const hook = (status: string, ...entries: [kind: string, text: string][]) => ({
  run: {
    eventName: 'postToolUse',
    status,
    statusMessage: null,
    entries: entries.map(([kind, text]) => ({ kind, text })),
  },
});

test.each([
  [hook('completed'), undefined],
  [hook('running', ['warning', 'Soon.']), undefined],
  [hook('completed', ['warning', 'Mind it.']), 'The hook PostToolUse said:\n\nMind it.'],
  [hook('completed', ['context', 'Milk.']), 'The hook PostToolUse told the model:\n\nMilk.'],
  [
    hook('blocked', ['warning', 'Used.'], ['feedback', 'Look again.']),
    'The hook PostToolUse blocked it:\n\nUsed.\n\nLook again.',
  ],
  [hook('failed', ['error', 'exit 1']), 'The hook PostToolUse failed:\n\nexit 1'],
  [hook('stopped'), 'The hook PostToolUse stopped the turn.'],
  [hook('laterOn'), 'The hook PostToolUse later on.'],
])('the hook %j gives the notice: %s', (params, said) => {
  expect(noticeOf('hook/completed', params)).toBe(said);
});

test.each([
  [
    'model/rerouted',
    { fromModel: 'a', toModel: 'b', reason: 'highRiskCyberActivity' },
    'b answers in place of a (high risk cyber activity).',
  ],
  [
    'item/autoApprovalReview/completed',
    { review: { status: 'denied', rationale: 'It deletes all.' }, action: { type: 'command' } },
    'Codex itself refused a command:\n\nIt deletes all.',
  ],
  [
    'item/autoApprovalReview/completed',
    { review: { status: 'approved', rationale: null }, action: { type: 'toString' } },
    'Codex itself allowed the request.',
  ],
  [
    'item/autoApprovalReview/completed',
    { review: { status: 'inProgress', rationale: null }, action: { type: 'command' } },
    undefined,
  ],
  ['modelProvider/authRecoveryStarted', { message: 'Signing in again.' }, 'Signing in again.'],
])('%s (%j) gives the notice: %s', (method, params, said) => {
  expect(noticeOf(method, params)).toBe(said);
});

test('the status message of a tool or hook is the turn’s activity', () => {
  const run = { ...hook('running').run, statusMessage: 'Checking the style' };
  expect(activityOf('item/mcpToolCall/progress', { message: '3 of 8' })).toBe('3 of 8');
  expect(activityOf('hook/started', { run })).toBe('Checking the style');
  expect(activityOf('hook/completed', { run })).toBe('');
  expect(activityOf('hook/started', hook('running'))).toBeUndefined();
  expect(activityOf('hook/completed', hook('completed'))).toBeUndefined();
});

test('a check by Codex is shown until it ends', () => {
  const action = { type: 'command' };
  const review = { status: 'inProgress', rationale: null };
  const buffering = { model: 'gpt', showBufferingUi: true };
  const update = 'model/safetyBuffering/updated';
  expect(activityOf('item/autoApprovalReview/started', { review, action })).toBe(
    'Codex reviews a command',
  );
  expect(activityOf('item/autoApprovalReview/completed', { review, action })).toBe('');
  expect(activityOf(update, buffering)).toBe('gpt checks its answer before it is shown');
  expect(activityOf(update, { ...buffering, showBufferingUi: false })).toBe('');
});

test('OpenAI’s request for a verification is shown', () => {
  const asked = (...verifications: string[]) => noticeOf('model/verification', { verifications });
  expect(asked('trustedAccessForCyber')).toContain('trusted access for cyber');
  expect(asked('new')).toBe('OpenAI asks to verify this account: new.');
  expect(asked()).toBeUndefined();
});

test.each([undefined, null, 7, {}, { run: 7 }, { run: { eventName: 1 } }, { review: {} }])(
  'SAFE: %j gives no notice and no activity',
  (params) => {
    const methods = ['hook/completed', 'model/rerouted', 'item/autoApprovalReview/completed'];
    for (const method of [
      ...methods,
      'model/verification',
      'modelProvider/authRecoveryStarted',
      'other',
    ])
      expect(noticeOf(method, params)).toBeUndefined();
    const activities = ['item/mcpToolCall/progress', 'hook/started', 'hook/completed'];
    for (const method of [...activities, 'model/safetyBuffering/updated'])
      expect(activityOf(method, params)).toBeUndefined();
  },
);
