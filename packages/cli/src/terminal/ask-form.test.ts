import { PassThrough } from 'node:stream';
import type { Form } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { askForm } from './ask-form.ts';

const choices = [
  { const: 'Red', title: 'Red', description: 'Warm' },
  { const: 'Blue', title: 'Blue', preview: 'a blue\n  box' },
];
const form: Form = {
  properties: {
    colour: {
      type: 'string',
      title: 'Which colour?',
      header: 'Colour',
      oneOf: choices,
      other: true,
    },
    extras: { type: 'array', title: 'Which extras?', items: { anyOf: choices }, other: true },
    size: { type: 'integer', title: 'Size' },
    news: { type: 'boolean', title: 'News' },
    name: { type: 'string', title: 'Name' },
  },
  required: ['colour', 'extras', 'size', 'news'],
};

/** Fills in the form. Each list contains the lines that are typed for one field. */
async function fill(...fields: string[][]) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = '';
  const lines = fields.flat();
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    if (shown.endsWith(': ')) setImmediate(() => input.write(`${lines.shift() ?? ''}\n`));
  });
  const content = await askForm(form, new AbortController().signal, { input, output });
  return { content, shown };
}

test('a form can be filled in with numbers, words, and y or n', async () => {
  const { content, shown } = await fill(['2'], ['1, 2'], ['7'], ['y'], ['Ada']);
  expect(content).toEqual({
    colour: 'Blue',
    extras: ['Red', 'Blue'],
    size: 7,
    news: true,
    name: 'Ada',
  });
  expect(shown).toContain('? [Colour] Which colour?\n  1  Red – Warm\n  2  Blue\n');
  expect(shown).toContain('Your answer (1-2, or your own words): ');
});

test('each choice is shown with its preview', async () => {
  const { shown } = await fill(['2'], ['1'], ['7'], ['y'], ['']);
  expect(shown).toContain('  2  Blue\n  │    a blue\n  │      box\n');
});

test('a typed text becomes the answer, an empty line leaves the field without an answer, and an invalid line is reported and asked again', async () => {
  const { content, shown } = await fill(
    ['', '3', 'Green'],
    ['A bell'],
    ['many', '1'],
    ['perhaps', 'no'],
    [''],
  );
  const problems = [
    'Choose one, or say something else.',
    'Choose one of the choices.',
    'Give a whole number, such as 3.',
    'Say yes or no.',
  ];
  expect(problems.filter((problem) => !shown.includes(problem))).toEqual([]);
  expect(content).toEqual({ colour: 'Green', extras: ['A bell'], size: 1, news: false });
});
