import { expect, test } from 'vitest';
import { readNotice } from './notices.ts';

test.each([
  [{ title: 'Slow', description: 'Wait.' }, 'Slow\n\nWait.'],
  [{ severity: 'info', title: 'Slow' }, 'Slow'],
  [{ severity: 'warning', title: 'Slow' }, 'Warning: Slow'],
  [{ severity: 'error', description: 'Away.' }, 'Error: Away.'],
  [{ severity: 'warning', title: ' ', description: '\n' }, ''],
  [{ severity: 'warning' }, ''],
])('%j is shown as %j, and no field is left to keep', (notice, shown) => {
  expect(readNotice({ sessionUpdate: 'notice', ...notice })).toEqual({ shown, rest: undefined });
});

test('an unknown severity and other unknown fields are kept', () => {
  const notice = { sessionUpdate: 'notice', title: 'Slow' };
  const odd = { ...notice, severity: 'toString', beam: 1 };
  expect(readNotice(odd)).toEqual({ shown: 'Slow', rest: { severity: 'toString', beam: 1 } });
  expect(readNotice({ ...notice, severity: 'error', beam: 1 }).rest).toEqual({ beam: 1 });
  expect(readNotice({ ...notice, beam: 1 }).rest).toEqual({ beam: 1 });
});
