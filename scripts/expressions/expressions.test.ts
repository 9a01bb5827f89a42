import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkExpressions } from './check.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'liminal-expressions-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function complaintsAbout(code: string, exceptions: { code: string; why: string }[] = []) {
  const file = 'planted.tsx';
  writeFileSync(join(folder, file), `/** Ä comment. */\n${code}\n`);
  return checkExpressions(
    folder,
    [file],
    exceptions.map((one) => ({ ...one, file })),
  );
}

test.each([
  String.raw`export const trim = (text: string) => text.replace(/[ \t]+\n/g, '');`,
  String.raw`export const parts = (type: string) => type.split(/;.*charset="?/);`,
  String.raw`const [a] = /^(a+)+$/.exec('') ?? [];`,
  String.raw`const rule = /^>*\|?:?-+:?(?:\|:?-*:?)*$/;`,
  String.raw`const quoted = /"(?:\\.|[^"])*"/;`,
  String.raw`const made = new RegExp('<a>.*?</a>', 's');`,
  String.raw`const called = RegExp('\\s+$');`,
  'const part = String.raw`(?:\\s+|x)`; const whole = new RegExp(`${part}+$`, "g");',
  'const all = new RegExp(["a+", String.raw`\\d+b`].join("|"));',
  'const seen = <b>{text.match(/x*y/)}</b>;',
])('an expression that is slow for some text is reported: %s', async (code) => {
  const [complaint = '', ...others] = await complaintsAbout(code);
  expect(complaint).toMatch(/^planted\.tsx:2: .* takes .*(polynomial|exponential).* time/s);
  expect(others).toEqual([]);
});

test.each([
  String.raw`const lines = /\r?\n/g;`,
  String.raw`const end = /(?<![ \t])[ \t]+$/;`,
  String.raw`const sticky = /\s*\n/y;`,
  String.raw`const places = /\b(?<key>\w+)=/dg;`,
  'const text = "/a+$/"; const half = 4 / 2 / 1;',
])('an expression that takes linear time is not reported: %s', async (code) => {
  expect(await complaintsAbout(code)).toEqual([]);
});

test('an expression that cannot be checked is reported, unless an exception gives a reason', async () => {
  const code = 'export const made = (part: string) => new RegExp(part);';
  expect(await complaintsAbout(code)).toEqual([
    expect.stringContaining('is built from values that are not known here'),
  ]);
  expect(await complaintsAbout('const some = /[a--b]/v;')).toEqual([
    expect.stringContaining('cannot be checked'),
  ]);
  expect(await complaintsAbout(code, [{ code: 'new RegExp(part', why: 'It is short.' }])).toEqual(
    [],
  );
});

test('an exception that is not needed is reported', async () => {
  expect(await complaintsAbout('', [{ code: '/gone/', why: 'It was short.' }])).toEqual([
    'exceptions.ts: planted.tsx has no expression /gone/. Remove the exception.',
  ]);
});
