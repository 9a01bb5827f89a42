import { PassThrough } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { askChoice } from './ask.ts';

const options = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
];

let input: PassThrough;
let output: PassThrough;
const shown = () => String(output.read());

beforeEach(() => {
  input = new PassThrough();
  output = new PassThrough();
});

test('a person chooses by number', async () => {
  const answer = askChoice('Run it?', options, new AbortController().signal, { input, output });
  input.write('2\n');
  expect(await answer).toEqual({ option: options[1] });
  expect(shown()).toContain('? Run it?\n  1  Allow\n  2  Reject\n');
});

test('SAFE: a question shows all hidden characters in it', async () => {
  const [yes, no] = options;
  const names = [{ ...yes!, name: 'Allow \u202ela' }, no!];
  const answer = askChoice('Run \u001b[8ml\u200bs?', names, new AbortController().signal, {
    input,
    output,
  });
  input.write('1\n');
  await answer;
  expect(shown()).toContain('? Run ‹U+001B›[8ml‹U+200B›s?\n  1  Allow ‹U+202E›la\n');
});

test('after an invalid choice, the question is asked again', async () => {
  const answer = askChoice('Run it?', options, new AbortController().signal, { input, output });
  for (const line of ['', 'yes', '0', '3', '1']) input.write(`${line}\n`);
  expect(await answer).toEqual({ option: options[0] });
});

test('if the chosen option accepts a note, the answer contains the note', async () => {
  const [yes, no] = options;
  const asked = [yes!, { ...no!, takesNote: true }];
  const answer = askChoice('Run it?', asked, new AbortController().signal, { input, output });
  for (const line of ['1 go on', '2, use the other folder']) input.write(`${line}\n`);
  expect(await answer).toEqual({ option: asked[1], note: 'use the other folder' });
  const said = shown();
  expect(said).toContain('Your choice (1-2; after 2 also why): ');
  expect(said).toContain('Option 1 takes no note. Give only the number.\n');
});

test('if another client answers a question, the question in the terminal ends without an answer', async () => {
  const over = new AbortController();
  const answer = askChoice('Run it?', options, over.signal, { input, output });
  over.abort();
  expect(await answer).toBeUndefined();
});
