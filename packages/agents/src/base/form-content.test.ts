import type { Form, FormContent } from '@liminal/protocol';
import { expect, test } from 'vitest';
import { formProblem } from './form-content.ts';

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
])('%j fills it in', (content) => {
  expect(formProblem(form, content)).toBeUndefined();
});

test.each<[FormContent, string]>([
  [{}, '“Name” must be filled in.'],
  [{ name: 7 }, '“Name” cannot be 7.'],
  [{ name: 'A', age: 1.5 }, '“age” cannot be 1.5.'],
  [{ name: 'A', weight: '1' }, '“weight” cannot be "1".'],
  [{ name: 'A', sure: 'yes' }, '“sure” cannot be "yes".'],
  [{ name: 'A', size: 'xl' }, '“size” cannot be "xl".'],
  [{ name: 'A', colours: ['green'] }, '“colours” cannot be ["green"].'],
  [{ name: 'A', fruit: 'apple' }, '“fruit” cannot be "apple".'],
  [{ name: 'A', own: 3 }, '“own” cannot be 3.'],
  [{ name: 'A', other: 1 }, 'The form has no field “other”.'],
  [{ name: 'A', constructor: 'x' }, 'The form has no field “constructor”.'],
])('%j does not: %s', (content, problem) => {
  expect(formProblem(form, content)).toBe(problem);
});

test('a required field may be named as a property of every object', () => {
  const odd: Form = { properties: { constructor: { type: 'string' } }, required: ['constructor'] };
  expect(formProblem(odd, {})).toBe('“constructor” must be filled in.');
  expect(formProblem(odd, { constructor: 'x' })).toBeUndefined();
});
