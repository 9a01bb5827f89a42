import { readFileSync } from 'node:fs';
import * as protocol from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bearer, startServer } from './harness.ts';

const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');

interface Example {
  language: string;
  schema: string;
  text: string;
}

const examples: Example[] = [...page.matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, language, schema, text]) => ({ language: language!, schema: schema!, text: text! }),
);

const schemas = new Map<string, unknown>(Object.entries(protocol));

function schemaOf(name: string): z.ZodType {
  const found = schemas.get(name.replace('[]', ''));
  if (!(found instanceof z.ZodType)) throw new Error(`There is no schema ${name}.`);
  return name.endsWith('[]') ? z.array(found) : found;
}

/** The values of `type` in all examples of a schema. */
function shownTypes(schema: string): string[] {
  return examples
    .filter((example) => example.schema === `${schema}[]`)
    .flatMap(({ text }) => (JSON.parse(text) as { type: string }[]).map(({ type }) => type));
}

function allTypes(union: { options: { shape: { type: { value: string } } }[] }): string[] {
  return union.options.map((option) => option.shape.type.value);
}

describe('the examples of docs/protocol.md', () => {
  test('are all of a kind that is checked', () => {
    expect(examples.length).toBeGreaterThan(20);
    for (const { language } of examples) expect(['json', 'sse']).toContain(language);
  });

  test.each(examples.filter(({ language }) => language === 'json'))(
    'are what $schema says',
    ({ schema, text }) => {
      const example: unknown = JSON.parse(text);
      // What a schema does not know it leaves out.
      expect(schemaOf(schema).parse(example)).toEqual(example);
    },
  );

  test.each(examples.filter(({ language }) => language === 'sse'))(
    'stream what $schema says',
    ({ schema, text }) => {
      const events = text.trim().split('\n\n');
      for (const event of events) {
        expect(event).toMatch(/^event: \w+\nid: \S+\ndata: .+$/);
        const data: unknown = JSON.parse(event.split('\ndata: ')[1]!);
        expect(schemaOf(schema).parse(data)).toEqual(data);
      }
    },
  );

  test('show every event, upsert, turn event and message there is', () => {
    expect(shownTypes('EventPayload')).toEqual(allTypes(protocol.EventPayload));
    expect(shownTypes('UpsertObject')).toEqual(allTypes(protocol.UpsertObject));
    expect(shownTypes('TurnEvent')).toEqual(allTypes(protocol.TurnEvent));
    expect(shownTypes('ClientMessage')).toEqual(allTypes(protocol.ClientMessage));
    expect(shownTypes('ServerMessage').toSorted()).toEqual(
      allTypes(protocol.ServerMessage).toSorted(),
    );
  });
});

test('docs/protocol.md lists the routes that there are', async () => {
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
  const listed = [...page.matchAll(/^\| `([A-Z]+ [^`?]+)/gm)].map(([, route]) => route!);
  expect(listed.toSorted()).toEqual([...routes, 'GET /metrics', 'GET /openapi.json'].toSorted());
});
