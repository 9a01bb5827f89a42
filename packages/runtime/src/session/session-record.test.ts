import { expect, test } from 'vitest';
import { summarizeFound } from '../directory/projects.ts';
import { sessionName, newRecord, summarize, titleFromMessage } from './session-record.ts';

const time = '2026-01-01T00:00:00.000Z';
const start = {
  sessionId: 's',
  cliType: 'demo',
  projectId: '/code/shop',
  projectDir: '/code/shop',
  title: '',
  createdAt: time,
  updatedAt: time,
};

test('in every list, a session without a message has the name of its folder', () => {
  const record = newRecord({ ...start, config: {}, fence: 0 });
  expect(summarize(record).title).toBe('New session in shop');
  expect(summarizeFound(start).title).toBe('New session in shop');
  expect(summarize({ ...record, title: 'Fix the login' }).title).toBe('Fix the login');
  expect(summarize(record).empty).toBe(true);
  expect(summarize({ ...record, title: 'Fix the login' }).empty).toBeUndefined();
  expect(sessionName({ title: '', projectDir: '/' })).toBe('New session in /');
});

test('a summary contains the model and the cost that the session’s agent last reported', () => {
  const record = newRecord({ ...start, config: { model: 'small' }, fence: 0 });
  expect(summarize(record).model).toBe('small');
  expect(summarize(record)).not.toHaveProperty('costUsd');
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0.25 };
  const lastKnown = { values: { model: 'large', mode: 'plan' }, usage };
  expect(summarize({ ...record, lastKnown })).toMatchObject({ model: 'large', costUsd: 0.25 });
  const none = summarize({ ...record, config: {}, lastKnown: { usage: { ...usage, costUsd: 0 } } });
  expect(none).toMatchObject({ costUsd: 0 });
  expect(none).not.toHaveProperty('model');
});

test('a shortened title does not end in half a character', () => {
  const title = titleFromMessage({ message: `${'a'.repeat(78)}${'😀'.repeat(5)}` });
  expect(title).toBe(`${'a'.repeat(78)}…`);
});
