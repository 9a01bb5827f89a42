import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeTools } from './describe-tools.ts';

/** The declaration of one field with this schema. */
function typeOf(schema: unknown, $defs: Record<string, unknown> = {}): string {
  const parameters = { type: 'object', properties: { a: schema }, $defs };
  const text = describeTools([{ name: 'tool', description: '', parameters }]);
  return /\n {4}a\?: ([^]*?);\n {2}\}\)/.exec(text)?.[1] ?? text;
}

test('tools are declared as TypeScript', () => {
  const read = z.object({
    path: z.string().describe('Relative to the project folder.'),
    limit: z.int().min(1).optional().describe('Lines.\nDefault: all of them.'),
    kinds: z.array(z.enum(['file', 'folder'])).optional(),
  });
  const parameters = z.toJSONSchema(read) as Record<string, unknown>;
  const tools = [
    { name: 'read', description: 'Reads a file.', parameters },
    { name: 'any', description: '', parameters: { type: 'object' } },
    {
      name: 'one',
      description: '',
      parameters: { anyOf: [{ type: 'object', properties: {} }, { type: 'object' }] },
    },
    {
      name: 'github-search',
      description: 'Ends */ early.',
      parameters: { type: 'object', properties: {} },
    },
    {
      name: 'list',
      description: '',
      parameters: { type: 'object', properties: { all: { type: 'boolean' } } },
    },
  ];
  expect(describeTools(tools))
    .toBe(`/** Each resolves with the tool's output. A call that fails throws an Error with the output as its message. */
declare const tools: {
  /** Reads a file. */
  read(input: {
    /** Relative to the project folder. */
    path: string;
    /**
     * Lines.
     * Default: all of them.
     */
    limit?: number;
    kinds?: Array<"file" | "folder">;
  }): Promise<string>;
  any(input?: Record<string, unknown>): Promise<string>;
  one(input: ({} | Record<string, unknown>)): Promise<string>;
  /** Ends * / early. */
  "github-search"(): Promise<string>;
  list(input?: {
    all?: boolean;
  }): Promise<string>;
};
/** Adds to what is shown of the script besides the value that it returns. */
declare function print(...values: unknown[]): void;
`);
});

test.each([
  [{ type: 'string', minLength: 1 }, 'string'],
  [{ type: ['integer', 'null'] }, 'number | null'],
  [{ const: 'x' }, '"x"'],
  [{ enum: [1, 'b', null] }, '1 | "b" | null'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'integer' }] }, '(string | number)'],
  [{ oneOf: [{ type: 'string' }] }, 'string'],
  [{ allOf: [{ $ref: '#/$defs/x' }, { type: 'null' }] }, '(boolean & null)'],
  [{ type: 'array' }, 'Array<unknown>'],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
  [{ $ref: '#/$defs/x' }, 'boolean'],
  [{ $ref: '#/$defs/none' }, 'unknown'],
  [{ $ref: '#/$defs/a~1b' }, 'null'],
  [{ $ref: 'https://example.com/schema' }, 'unknown'],
  [{ $ref: '#/__proto__/constructor' }, 'unknown'],
  [true, 'unknown'],
  [{}, 'unknown'],
  [{ type: 'object', properties: { 'a-b': { type: 'null' } } }, '{\n      "a-b"?: null;\n    }'],
])('the schema %j becomes a type', (schema, type) => {
  expect(typeOf(schema, { x: { type: 'boolean' }, 'a/b': { type: 'null' } })).toBe(type);
});

test('a recursive or very large schema is described only to a limited depth and length', () => {
  const self = { type: 'array', items: { $ref: '#/$defs/self' } };
  expect(typeOf({ $ref: '#/$defs/self' }, { self })).toMatch(/^(Array<)+unknown>+$/);
  const all = {
    anyOf: Array.from({ length: 10 }, () => ({ type: 'array', items: { $ref: '#/$defs/all' } })),
  };
  expect(typeOf({ $ref: '#/$defs/all' }, { all }).length).toBeLessThan(100_000);
});
