import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  requestArguments,
  commands,
  fillPath,
  idMax,
  type Operation,
  operations,
  requestParts,
  readArguments,
  serverOperations,
} from './index.ts';

const table: [string, Operation][] = Object.entries({ ...operations, ...serverOperations });

describe.each([
  ['only ids', operations.removeQueued, ['s', 't'], { id: 's', turnId: 't' }, undefined],
  ['a field', operations.rename, ['s', 'Hi'], { id: 's' }, { title: 'Hi' }],
  [
    'a field with the name of an id',
    operations.setConfig,
    ['s', 'model', 'opus'],
    { id: 's' },
    { id: 'model', value: 'opus' },
  ],
  [
    'a whole body',
    operations.answerApproval,
    ['s', 'a', { optionId: 'yes', note: 'Well.' }],
    { id: 's', approvalId: 'a' },
    { optionId: 'yes', note: 'Well.' },
  ],
  [
    'a field and more options',
    operations.search,
    ['a b', { limit: 5 }],
    {},
    { q: 'a b', limit: 5 },
  ],
  ['no arguments', operations.listAgents, [], {}, undefined],
])('an operation with %s', (_, operation, args, ids, content) => {
  test('becomes the parts of its request', () => {
    expect(requestParts(operation, args)).toEqual({ ids, ...(content && { content }) });
  });

  test('has the same arguments after its request is parsed', () => {
    expect(requestArguments(operation, { ids, content })).toEqual(args);
  });
});

describe('arguments from an untrusted source', () => {
  test('are parsed by the schemas, which add defaults and trim texts', () => {
    expect(readArguments(operations.rename, ['s', '  A name '])).toEqual(['s', 'A name']);
    expect(readArguments(operations.listFolders, [])).toEqual(['']);
    expect(readArguments(operations.search, ['a'])).toEqual(['a', { limit: 20 }]);
  });

  test.each([
    ['an id is missing', operations.editQueued, ['s', undefined, 'Hi']],
    ['an id is not a text', operations.cancel, [{ id: 's' }]],
    ['an id is too long', operations.cancel, ['s'.repeat(idMax + 1)]],
    ['a field is missing', operations.editQueued, ['s', 't']],
    ['a field has the wrong type', operations.setConfig, ['s', 'model', 1]],
    ['the body is not an object', operations.answerApproval, ['s', 'a', 'yes']],
  ])('are refused if %s', (_, operation, args) => {
    expect(() => readArguments(operation, args)).toThrow(z.ZodError);
  });
});

test('ids are escaped in a path', () => {
  const ids = { id: 'a/../b?c', turnId: '%' };
  expect(fillPath(operations.editQueued, ids)).toBe('/api/session/a%2F..%2Fb%3Fc/queue/%25');
});

describe('the table', () => {
  test('contains each combination of path and method only once', () => {
    const routes = table.map(([, { method, path }]) => `${method} ${path}`);
    expect(routes).toEqual([...new Set(routes)]);
  });

  test.each(table)('lists only fields that exist: %s', (_, operation) => {
    const { query, body, answer, fields = [], unwrap } = operation;
    const shapeOf = (schema: unknown) => (schema instanceof z.ZodObject ? schema.shape : {});
    expect(Object.keys(shapeOf(body ?? query))).toEqual(expect.arrayContaining([...fields]));
    const answered = Object.keys(shapeOf(answer));
    expect(answered).toEqual(unwrap === undefined ? answered : [unwrap]);
    expect([query, body]).toContain(undefined);
  });

  test.each(Object.entries(commands))(
    'contains a session’s id in the path of %s',
    (_, { path }) => {
      expect(path).toMatch(/^\/api\/session\/:id(\/|$)/);
    },
  );
});
