import { expect, test } from 'vitest';
import { readNotice } from './notices.ts';

test.each([
  [{ title: 'Slow', description: 'Wait.' }, 'Slow\n\nWait.'],
  [{ severity: 'info', title: 'Slow' }, 'Slow'],
  [{ severity: 'warning', title: 'Slow' }, 'Warning: Slow'],
  [{ severity: 'error', description: 'Away.' }, 'Error: Away.'],
  [{ severity: 'warning', title: ' ', description: '\n' }, ''],
  [{ severity: 'warning' }, ''],
])('%j is told as %j, and leaves nothing to keep', (notice, tell) => {
  expect(readNotice({ sessionUpdate: 'notice', ...notice })).toEqual({ tell, rest: undefined });
});

test('how severe it is by a word that nobody knows is kept, as is what else it says', () => {
  const notice = { sessionUpdate: 'notice', title: 'Slow' };
  const odd = { ...notice, severity: 'toString', beam: 1 };
  expect(readNotice(odd)).toEqual({ tell: 'Slow', rest: { severity: 'toString', beam: 1 } });
  expect(readNotice({ ...notice, severity: 'error', beam: 1 }).rest).toEqual({ beam: 1 });
  expect(readNotice({ ...notice, beam: 1 }).rest).toEqual({ beam: 1 });
});
