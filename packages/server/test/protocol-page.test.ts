import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as protocol from '@liminal/protocol';
import {
  commands,
  type Operation,
  operations,
  refusals,
  refusalsOfAny,
  refusalsOfCommands,
  serverOperations,
} from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, startServer } from './harness.ts';

const docs = new URL('../../../docs/', import.meta.url);
const readPage = (name: string): string => readFileSync(new URL(name, docs), 'utf8');
const page = readPage('protocol.md');
const operationsPath = fileURLToPath(new URL('protocol-operations.md', docs));
const operationsPage = readPage('protocol-operations.md');
/** All pages about the protocol, docs/protocol*.md. */
const allPages = readdirSync(docs)
  .filter((name) => /^protocol.*\.md$/.test(name))
  .map(readPage)
  .join('\n');

interface Example {
  language: string;
  schema: string;
  text: string;
}

const examples: Example[] = [...allPages.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, language, schema, text]) => ({ language: language!, schema: schema!, text: text! }),
);

const schemas = new Map<string, unknown>(Object.entries(protocol));

function schemaOf(name: string): z.ZodType {
  const found = schemas.get(name.replace('[]', ''));
  if (!(found instanceof z.ZodType)) throw new Error(`There is no schema ${name}.`);
  return name.endsWith('[]') ? z.array(found) : found;
}

/** Returns the values of `type` in all examples that belong to a schema. */
function shownTypes(schema: string): string[] {
  return examples
    .filter((example) => example.schema === `${schema}[]`)
    .flatMap(({ text }) => (JSON.parse(text) as { type: string }[]).map(({ type }) => type));
}

function allTypes(union: { options: { shape: { type: { value: string } } }[] }): string[] {
  return union.options.map((option) => option.shape.type.value);
}

describe('the examples of docs/protocol*.md', () => {
  test('all examples are JSON or server-sent events', () => {
    expect(examples.length).toBeGreaterThan(20);
    for (const { language } of examples) expect(['json', 'sse']).toContain(language);
  });

  test.each(examples.filter(({ language }) => language === 'json'))(
    'every example in JSON matches the schema $schema',
    ({ schema, text }) => {
      const example: unknown = JSON.parse(text);
      // The schema drops unknown fields. If an example contains unknown fields, it differs from the parsed example.
      expect(schemaOf(schema).parse(example)).toEqual(example);
    },
  );

  test.each(examples.filter(({ language }) => language === 'sse'))(
    'every example of server-sent events matches the schema $schema',
    ({ schema, text }) => {
      const events = text.trim().split('\n\n');
      for (const event of events) {
        expect(event).toMatch(/^event: \w+\nid: \S+\ndata: .+$/);
        const data: unknown = JSON.parse(event.split('\ndata: ')[1]!);
        expect(schemaOf(schema).parse(data)).toEqual(data);
      }
    },
  );

  test('the examples include every kind of event, upsert, turn event and message', () => {
    expect(shownTypes('EventPayload')).toEqual(allTypes(protocol.EventPayload));
    expect(shownTypes('UpsertObject')).toEqual(allTypes(protocol.UpsertObject));
    expect(shownTypes('TurnEvent')).toEqual(allTypes(protocol.TurnEvent));
    expect(shownTypes('ClientMessage')).toEqual(allTypes(protocol.ClientMessage));
    expect(shownTypes('ServerMessage').toSorted()).toEqual(
      allTypes(protocol.ServerMessage).toSorted(),
    );
  });
});

/** Returns the table of docs/protocol-operations.md, made from the protocol's own list. */
function operationTable(): string {
  const all: [string, Operation][] = Object.entries({ ...operations, ...serverOperations });
  const rows = all.map(([name, operation]) => {
    const { method, path, query, summary, body, status = 200, answer, streams } = operation;
    const { bytes } = operation;
    const given = bytes === 'answer' ? 'the file' : nameOf(answer);
    const common: readonly string[] = name in commands ? refusalsOfCommands : [];
    return [
      quoted(`${method} ${path}${query ? `?${fieldsOf(query).join('=&')}=` : ''}`),
      summary,
      bytes === 'request' ? 'the file' : body ? nameOf(body) : '',
      streams
        ? '[server-sent events](protocol-live.md#server-sent-events)'
        : `${status} ${given}`.trim(),
      operation.refusals
        .filter((code) => !common.includes(code))
        .map(quoted)
        .join(', '),
    ];
  });
  const others = [
    [quoted('GET /metrics'), 'Gives gauges in Prometheus’ text format.', '', '200', ''],
    [quoted('GET /openapi.json'), 'Gives this table for programs.', '', '200', ''],
  ];
  const head = [
    ['request', 'what it does', 'body', 'answer', 'refusals'],
    ['---', '---', '---', '---', '---'],
  ];
  return [...head, ...rows, ...others].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function nameOf(schema: z.ZodType | undefined): string {
  if (!schema) return '`{}`';
  const [name] = [...schemas].find(([, value]) => value === schema) ?? [];
  return quoted(name ?? `{ ${fieldsOf(schema).join(', ')} }`);
}

function fieldsOf(schema: z.ZodType): string[] {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function quoted(text: string): string {
  return `\`${text}\``;
}

test('docs/protocol-operations.md has the protocol’s table of operations (vitest -u writes the table)', async () => {
  const place = /(?<=<!-- operations -->\n)[\s\S]*?(?=<!-- end -->)/;
  expect(operationsPage).toMatch(place);
  const made = operationsPage.replace(place, () => operationTable());
  await expect(made).toMatchFileSnapshot(operationsPath);
});

test('docs/protocol.md lists the errors that any request can get, and the errors that any command can get', () => {
  for (const codes of [refusalsOfAny, refusalsOfCommands])
    expect(page).toContain(codes.map(quoted).join(', '));
});

test('docs/protocol.md lists each error under the error’s status', () => {
  const rows = page.matchAll(/^\| (\d{3}) \| (.+) \|$/gm);
  const listed = [...rows].flatMap(([, status, codes]) =>
    [...codes!.matchAll(/`([A-Z_]{3,})`/g)].map(([, code]) => [code!, Number(status)]),
  );
  // No request can get this error, because the server does not start.
  const { INSECURE_HOST: _, ...met } = refusals;
  expect(Object.fromEntries(listed)).toEqual(met);
});

test('docs/protocol-operations.md lists all routes', async () => {
  const server = await startServer();
  const { paths }: { paths: Record<string, object> } = (
    await server.app.inject({ url: '/openapi.json', headers: bearer })
  ).json();
  await server.close();
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  const listed = [...operationsPage.matchAll(/^\| `([A-Z]+ [^`?]+)/gm)].map(([, route]) => route!);
  expect(listed.toSorted()).toEqual([...routes, 'GET /metrics', 'GET /openapi.json'].toSorted());
});
