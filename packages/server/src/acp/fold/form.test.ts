import type { Form } from '@liminal/protocol';
import { requestProblems } from '@liminal/testkit/acp-schema';
import { expect, test } from 'vitest';
import { formOf } from './form.ts';

/** Returns the form as it is sent. First checks the request against the official schema. */
function sentForm(form: Form) {
  const requestedSchema = formOf(form);
  const request = { sessionId: 's', mode: 'form', message: 'Who?', requestedSchema };
  expect(requestProblems('elicitation/create', request)).toEqual([]);
  return requestedSchema;
}

test('FR-039-01: a form with every kind of field is sent unchanged', () => {
  const form: Form = {
    title: 'About you',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 1, default: 'Ada' },
      age: { type: 'integer', minimum: 3 },
      height: { type: 'number', description: 'In metres.' },
      agrees: { type: 'boolean', default: true },
      colour: { type: 'string', enum: ['red', 'blue'] },
      size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
      days: { type: 'array', items: { anyOf: [{ const: 'mo', title: 'Monday' }] }, maxItems: 2 },
    },
    required: ['name'],
  };
  expect(sentForm(form)).toEqual({ type: 'object', ...form });
});

test('FR-039-01: a list of plain values gets the type string, because ACP requires a type', () => {
  const form = { properties: { days: { type: 'array', items: { enum: ['Monday'] } } } };
  expect(sentForm(form).properties).toEqual({
    days: { type: 'array', items: { type: 'string', enum: ['Monday'] } },
  });
});

test('FR-039-01: fields that ACP lacks are sent in _meta', () => {
  const form: Form = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: {
      size: {
        type: 'string',
        title: 'Which size?',
        header: 'Size',
        other: true,
        oneOf: [{ const: 's', title: 'Small', preview: '*s*' }],
      },
    },
  };
  expect(sentForm(form)).toEqual({
    type: 'object',
    properties: {
      size: {
        type: 'string',
        title: 'Which size?',
        oneOf: [{ const: 's', title: 'Small', _meta: { liminal: { preview: '*s*' } } }],
        _meta: { liminal: { header: 'Size', other: true } },
      },
    },
    _meta: { liminal: { $schema: 'http://json-schema.org/draft-07/schema#' } },
  });
});

test('FR-039-01: the _meta of a form is kept beside Liminal’s own fields', () => {
  const meta = { editor: { icon: 'ship' } };
  const form = { _meta: meta, header: 'Release', properties: { name: { type: 'string' } } } as Form;
  expect(sentForm(form)).toStrictEqual({
    type: 'object',
    properties: { name: { type: 'string' } },
    _meta: { ...meta, liminal: { header: 'Release' } },
  });
});

test('FR-039-01: fields without a value are not sent', () => {
  const form: Form = {
    properties: { name: { type: 'string', title: undefined, header: undefined } },
  };
  expect(sentForm(form)).toStrictEqual({
    type: 'object',
    properties: { name: { type: 'string' } },
  });
});
