import type { Form, FormContent } from '../content.ts';
import { expect, test } from 'vitest';
import { formProblem } from './check-content.ts';

const form: Form = {
  properties: {
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer' },
    weight: { type: 'number' },
    sure: { type: 'boolean' },
    size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
    colours: { type: 'array', items: { enum: ['red', 'blue'] } },
    fruit: { type: 'array', items: { anyOf: [{ const: 'apple', title: 'Apple' }] } },
    later: { type: 'of_tomorrow' },
    own: { type: 'string', oneOf: [{ const: 's', title: 'Small' }], other: true },
    owns: { type: 'array', items: { enum: ['red'] }, other: true },
  },
  required: ['name'],
};

test.each<FormContent>([
  { name: 'A' },
  { name: '', age: 3, weight: 1.5, sure: false, size: 's' },
  { name: 'A', colours: ['red', 'blue'], fruit: [], later: 'anything' },
  { name: 'A', own: 'Words of my own.', owns: ['red', 'and mauve'] },
])('%j is valid', (content) => {
  expect(formProblem(form, content)).toBeUndefined();
});

test.each<[FormContent, string]>([
  [{}, '“Name”: This has to be filled in.'],
  [{ name: 7 }, '“Name”: Give a text.'],
  [{ name: 'A', age: 1.5 }, '“age”: Give a whole number.'],
  [{ name: 'A', weight: '1' }, '“weight”: Give a number, such as 1.5.'],
  [{ name: 'A', sure: 'yes' }, '“sure”: Say yes or no.'],
  [{ name: 'A', size: 'xl' }, '“size”: Choose one of the choices.'],
  [{ name: 'A', colours: ['green'] }, '“colours”: Choose among the choices.'],
  [{ name: 'A', fruit: 'apple' }, '“fruit”: Choose among the choices.'],
  [{ name: 'A', own: 3 }, '“own”: Choose one of the choices.'],
  [{ name: 'A', other: 1 }, 'The form has no field “other”.'],
  [{ name: 'A', constructor: 'x' }, 'The form has no field “constructor”.'],
])('%j is not valid: %s', (content, problem) => {
  expect(formProblem(form, content)).toBe(problem);
});

test('a required field may have the same name as a property of every object (`constructor`)', () => {
  const odd: Form = { properties: { constructor: { type: 'string' } }, required: ['constructor'] };
  expect(formProblem(odd, {})).toBe('“constructor”: This has to be filled in.');
  expect(formProblem(odd, { constructor: 'x' })).toBeUndefined();
});

const patterned = (pattern: string): Form => ({ properties: { it: { type: 'string', pattern } } });

test.each([
  ['^v\\d+$', 'v1', 'w1'],
  ['^(foo|bar)-[0-9]{4}$', 'foo-1234', 'foo-12'],
  ['^[^@]+@[^@]+\\.[a-z]{2,}$', 'ada@example.org', 'ada'],
  ['[A-Z]', 'aB', 'ab'],
  ['^\\(\\)+$', '())', '('],
])('an agent’s pattern %s accepts %j, but not %j', (pattern, good, bad) => {
  expect(formProblem(patterned(pattern), { it: good })).toBeUndefined();
  expect(formProblem(patterned(pattern), { it: bad })).toContain(pattern);
});

test.each([
  '^(a+)+$',
  '^(?:a|a)*$',
  '^(a|a){1,50}b$',
  '^a*a*a*a*a*a*b$',
  `^${'(a|a)'.repeat(60)}b$`,
  'a*a*a*b',
  `${'a?'.repeat(60)}b`,
  `^${'a'.repeat(600)}$`,
])('an agent’s pattern that may take too long is checked only by the agent: %s', (pattern) => {
  // If the pattern were applied, this test would run forever.
  expect(formProblem(patterned(pattern), { it: `${'a'.repeat(400)}!` })).toBeUndefined();
});
