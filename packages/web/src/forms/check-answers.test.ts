import { Form, FormContent, formProblem, readFields } from '@liminal/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answers, checkForm, initialAnswers } from './check-answers.ts';

/** Returns the content, or the problem, for a form with one field `it` and this answer. */
function check(field: object, answer: Answers[string], required = true) {
  const form = Form.parse({ properties: { it: field }, required: required ? ['it'] : [] });
  const { content, problems } = checkForm(readFields(form), { it: answer });
  return problems.get('it') ?? content;
}

describe('a required field', () => {
  it.each([
    [{ type: 'string' }, '   ', 'This has to be filled in.'],
    [{ type: 'integer' }, '', 'This has to be filled in.'],
    [{ type: 'string', enum: ['a', 'b'] }, '', 'Choose one.'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 }, [], 'Choose at least 1.'],
  ])('a required field reports a missing answer: %j', (field, answer, problem) => {
    expect(check(field, answer)).toBe(problem);
    expect(check(field, answer, false)).toEqual({});
  });

  it('a required field may be empty if it allows that no choice is made', () => {
    expect(check({ type: 'array', items: { enum: ['a'] } }, [])).toEqual({ it: [] });
  });
});

describe('a number', () => {
  const port = { type: 'integer', minimum: 1, maximum: 65535 };
  it.each([
    [port, ' 8080 ', { it: 8080 }],
    [port, '0', 'Give 1 or more.'],
    [port, '70000', 'Give 65535 or less.'],
    [port, '1.5', 'Give a whole number.'],
    [port, 'http', 'Give a whole number, such as 3.'],
    [{ type: 'number' }, '-1.5e3', { it: -1500 }],
    [{ type: 'number' }, '1,5', 'Give a number, such as 1.5.'],
    [{ type: 'number' }, '0x10', 'Give a number, such as 1.5.'],
    [{ type: 'number' }, '1e999', 'Give a number, such as 1.5.'],
  ])(
    'a number field with the schema %j accepts or rejects %j as expected',
    (field, answer, expected) => {
      expect(check(field, answer)).toEqual(expected);
    },
  );
});

describe('a text', () => {
  const named = { type: 'string', minLength: 2, maxLength: 4 };
  const tag = { type: 'string', pattern: '^v\\d+$' };
  it.each([
    [named, 'a', 'Give at least 2 characters; these are 1.'],
    [named, 'abcde', 'Give at most 4 characters; these are 5.'],
    [named, '😀😀😀', { it: '😀😀😀' }],
    [{ type: 'string' }, ' kept as it is ', { it: ' kept as it is ' }],
    [tag, 'v12', { it: 'v12' }],
    [tag, '12', 'This does not match the required pattern: ^v\\d+$'],
    [{ type: 'string', pattern: '(' }, 'anything', { it: 'anything' }],
    [{ type: 'string', format: 'email' }, ' ada@example.org ', { it: 'ada@example.org' }],
    [{ type: 'string', format: 'email' }, 'ada', expect.stringContaining('e-mail address')],
    [{ type: 'string', format: 'uri' }, 'https://x.test/a', { it: 'https://x.test/a' }],
    [{ type: 'string', format: 'uri' }, 'x.test', expect.stringContaining('whole address')],
    [{ type: 'string', format: 'date' }, '2026-05-04', { it: '2026-05-04' }],
    [{ type: 'string', format: 'date' }, '2026-13-04', expect.stringContaining('Give a date')],
    [{ type: 'string', format: 'hostname' }, 'anything', { it: 'anything' }],
  ])(
    'a text field with the schema %j accepts or rejects %j as expected',
    (field, answer, expected) => {
      expect(check(field, answer)).toEqual(expected);
    },
  );

  it('a text with a time is sent in UTC, in any time zone of the page', () => {
    const typed = '2026-05-04T10:30';
    const expected = new Date(2026, 4, 4, 10, 30).toISOString();
    expect(check({ type: 'string', format: 'date-time' }, typed)).toEqual({ it: expected });
  });
});

it('a list contains one value per line of the text', () => {
  expect(check({ type: 'array', items: { type: 'string' } }, 'a\n\nb c\n')).toEqual({
    it: ['a', 'b c'],
  });
});

it('a list that is too short or too long has a problem', () => {
  const field = { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2, maxItems: 2 };
  expect(check(field, ['a'])).toBe('Choose at least 2.');
  expect(check(field, ['a', 'b', 'c'])).toBe('Choose at most 2.');
  expect(check(field, ['a', 'c'])).toEqual({ it: ['a', 'c'] });
});

it('a switch always sends an answer', () => {
  expect(check({ type: 'boolean' }, false, false)).toEqual({ it: false });
  expect(check({ type: 'boolean' }, true)).toEqual({ it: true });
});

it('for any form, the answer fits the schema, or each problem has a message', () => {
  const anything = fc.option(fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null)), {
    nil: undefined,
  });
  const field = fc.record({
    type: fc.oneof(
      fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object'),
      fc.string(),
    ),
    title: fc.option(fc.string()),
    default: anything,
    enum: fc.option(fc.array(fc.string(), { maxLength: 3 })),
    minLength: anything,
    maximum: anything,
    pattern: anything,
    format: anything,
    minItems: anything,
  });
  // Leave out this name, because incoming JSON loses it: see the test below.
  const name = fc.string().filter((text) => text !== '__proto__');
  const forms = fc.record({
    properties: fc.dictionary(name, field, { maxKeys: 4 }),
    required: fc.option(fc.array(fc.string())),
  });
  fc.assert(
    fc.property(forms, fc.array(fc.string(), { minLength: 4, maxLength: 4 }), (raw, typed) => {
      const fields = readFields(Form.parse(raw));
      expect(fields.map(({ name }) => name)).toEqual(Object.keys(raw.properties));
      const texts = fields.map(({ name, kind, initial }, index) => [
        name,
        kind === 'text' || kind === 'number' ? (typed[index] ?? '') : initial,
      ]);
      for (const answers of [initialAnswers(fields), Object.fromEntries(texts) as Answers]) {
        const { content, problems } = checkForm(fields, answers);
        const sentences = [...problems.values()];
        expect(content === undefined).toBe(sentences.length > 0);
        expect(FormContent.optional().safeParse(content).success).toBe(true);
        // The server's check must accept the content.
        expect(content && formProblem(Form.parse(raw), content)).toBeUndefined();
        expect(sentences.filter((sentence) => !/^[A-Z]/.test(sentence))).toEqual([]);
      }
    }),
  );
});

it('a field’s name may also be the name of a property that every object has', () => {
  const field = { type: 'string' };
  const form = Form.parse({ properties: { constructor: field, toString: field } });
  const fields = readFields(form);
  const { content, problems } = checkForm(fields, { ...initialAnswers(fields), toString: 'typed' });
  expect(problems.get('constructor')).toBeUndefined();
  expect(content).toEqual({ toString: 'typed' });
});

it('a field named __proto__ is not shown, because incoming JSON loses it', () => {
  const form = Form.parse(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'));
  expect(readFields(form)).toEqual([]);
});
