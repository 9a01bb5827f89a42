import { expect, test } from 'vitest';
import { summarizeFound } from '../directory/projects.ts';
import { nameOf, newRecord, summarize, titleOf } from './session-record.ts';

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

test('a session without a message is named after its folder, in every list', () => {
  const record = newRecord({ ...start, config: {}, fence: 0 });
  expect(summarize(record).title).toBe('New session in shop');
  expect(summarizeFound(start).title).toBe('New session in shop');
  expect(summarize({ ...record, title: 'Fix the login' }).title).toBe('Fix the login');
  expect(summarize(record).empty).toBe(true);
  expect(summarize({ ...record, title: 'Fix the login' }).empty).toBeUndefined();
  expect(nameOf({ title: '', projectDir: '/' })).toBe('New session in /');
});

test('a shortened title does not end in half a character', () => {
  const title = titleOf({ message: `${'a'.repeat(78)}${'😀'.repeat(5)}` });
  expect(title).toBe(`${'a'.repeat(78)}…`);
});
