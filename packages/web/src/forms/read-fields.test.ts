import { Form, readFields } from '@liminal/protocol';
import { expect, it } from 'vitest';
import { initialAnswers } from './check-answers.ts';
import { filledRows } from './filled-rows.ts';

const release = Form.parse({
  properties: {
    version: {
      type: 'string',
      title: 'Version',
      description: 'As in package.json',
      default: '2.4.0',
    },
    registry: {
      type: 'string',
      title: 'Registry',
      oneOf: [
        { const: 'npm', title: 'npm', description: 'For everybody' },
        { const: 'own', title: 'Our own' },
      ],
      default: 'own',
    },
    tags: {
      type: 'array',
      title: 'Tags',
      items: {
        anyOf: [
          { const: 'latest', title: 'Latest' },
          { const: 'next', title: 'Next' },
        ],
      },
      default: ['next', 'unknown'],
    },
    retries: { type: 'integer', default: 3, minimum: 0 },
    dryRun: { type: 'boolean', default: true },
    address: { type: 'object', default: { street: 'Main' } },
  },
  required: ['version', 'registry'],
});

it('fields come in the form’s order, with their defaults', () => {
  const fields = readFields(release);
  expect(fields.map(({ name, kind }) => [name, kind])).toEqual([
    ['version', 'text'],
    ['registry', 'one'],
    ['tags', 'several'],
    ['retries', 'number'],
    ['dryRun', 'switch'],
    ['address', 'text'],
  ]);
  expect(initialAnswers(fields)).toEqual({
    version: '2.4.0',
    registry: 'own',
    tags: ['next'],
    retries: '3',
    dryRun: true,
    address: '',
  });
  expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual([
    'version',
    'registry',
  ]);
});

it('a field shows its title, or, without a title, its name; choices have titles of their own', () => {
  const [version, registry, , retries] = readFields(release);
  expect([version?.title, version?.description]).toEqual(['Version', 'As in package.json']);
  expect(retries).toMatchObject({ title: 'retries', minimum: 0 });
  expect(registry).toMatchObject({
    choices: [
      { value: 'npm', title: 'npm', description: 'For everybody' },
      { value: 'own', title: 'Our own' },
    ],
  });
});

it('an empty choice and an unknown default select nothing', () => {
  const form = Form.parse({
    properties: {
      several: { type: 'array', items: {}, default: ['a', 7, 'b'] },
      one: { type: 'string', enum: ['a'], default: 'z' },
    },
  });
  expect(readFields(form)).toMatchObject([
    { kind: 'text', initial: 'a\nb', isList: true },
    { kind: 'one', initial: '' },
  ]);
  expect(readFields(undefined)).toEqual([]);
});

it('all answers are shown with the form’s labels, in the form’s order', () => {
  const content = { extra: 'kept', tags: ['latest', 'next'], registry: 'npm', dryRun: false };
  expect(filledRows(release, content).map(({ title, text }) => [title, text])).toEqual([
    ['Registry', 'npm'],
    ['Tags', 'Latest, Next'],
    ['dryRun', 'No'],
    ['extra', 'kept'],
  ]);
});
