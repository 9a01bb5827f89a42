import { expect, it } from 'vitest';
import { documentTitle } from '../app/use-document-mark.ts';
import { sessionAnnouncements } from '../app/session-announcements.ts';
import { fileNameOf, labelOf, pastedOf } from './label.ts';

it.each([
  ['words', 'words'],
  [' two\n\tlines  ', 'two lines'],
  ['a\u202Egpj.exe', 'a‹U+202E›gpj.exe'],
  ['\u001B]0;x\u0007', '‹U+001B›]0;x‹U+0007›'],
  ['l\u200Bs', 'l‹U+200B›s'],
  ['👨‍👩‍👧, می‌خواهم, שלום', '👨‍👩‍👧, می‌خواهم, שלום'],
  ['x'.repeat(300), 'x'.repeat(300)],
  ['x'.repeat(301), `${'x'.repeat(299)}…`],
  [`${'x'.repeat(298)}😀😀`, `${'x'.repeat(298)}…`],
  [' '.repeat(1_000_000), '…'],
  ['\u202E'.repeat(1_000_000), `${'‹U+202E›'.repeat(37)}‹U+…`],
])('labelOf returns the expected label for %j', (text, label) => {
  expect(labelOf(text)).toBe(label);
});

it.each([
  ['notes.md', 'notes.md'],
  ['../../etc/passwd', '.. .. etc passwd'],
  ['a\u202Egpj.exe', 'a‹U+202E›gpj.exe'],
  [`${'x'.repeat(200)}.tar.gz`, `${'x'.repeat(59)}…${'x'.repeat(13)}.tar.gz`],
  ['', 'file'],
])('fileNameOf returns a safe file name for %j', (name, saved) => {
  expect(fileNameOf(name)).toBe(saved);
});

it.each([
  ['one\r\ntwo\n\tthree', 'one\ntwo\n\tthree'],
  ['10 %\r100 %', '10 %\n100 %'],
  ['\u001B[201~rm\u0000\u0008\u009B', '[201~rm'],
  ['a\u202Ecba\u202C\u2067x\u2069', 'acbax'],
  ['👨‍👩‍👧, می‌خواهم, \u00AD', '👨‍👩‍👧, می‌خواهم, \u00AD'],
  ['x'.repeat(100_000), 'x'.repeat(100_000)],
])(
  'pastedOf returns %j without characters that have an effect when they are pasted',
  (text, pasted) => {
    expect(pastedOf(text)).toBe(pasted);
  },
);

it('the title of the window and announcements contain the label of a session', () => {
  const title = `Fix\u202E\n${'x'.repeat(500)}`;
  expect(documentTitle(title, 'idle', 0)).toMatch(/^Fix‹U\+202E› x{280,}… – Liminal$/);
  const session = { sessionId: 's', state: 'waiting', title } as never;
  expect(sessionAnnouncements(new Map([['s', 'idle']]), [session], undefined)).toEqual([
    expect.stringMatching(/^Fix‹U\+202E› x{280,}… needs you\.$/),
  ]);
});
