import * as protocol from '@liminal/protocol';
import { type Operation, operations, pathSchema, serverOperations } from '@liminal/protocol';
import { z } from 'zod';
import type { App } from './schema.ts';

/** The protocol's schemas under their own names, so that the document refers to each instead of repeating it. */
const named = z.registry<{ id: string }>();
for (const [id, value] of Object.entries(protocol)) {
  if (value instanceof z.ZodType) named.add(value, { id });
}
const uri = (id: string) => `#/components/schemas/${id}`;

/** Serves the OpenAPI document of all operations. */
export function openApiRoute(app: App, { version }: { version: string }) {
  app.get('/openapi.json', () => ({
    openapi: '3.1.0',
    info: { title: 'Liminal', version },
    paths: paths({ ...operations, ...serverOperations }),
    components: {
      schemas: z.toJSONSchema(named, { uri }).schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ token: [] }],
  }));
}

function paths(table: Record<string, Operation>) {
  const byPath = Map.groupBy(Object.values(table), ({ path }) =>
    path.replaceAll(/:(\w+)/g, '{$1}'),
  );
  return Object.fromEntries(
    [...byPath].map(([path, there]) => [
      path,
      Object.fromEntries(there.map((one) => [one.method.toLowerCase(), describe(one)])),
    ]),
  );
}

function describe(operation: Operation) {
  const { summary, query, body } = operation;
  return {
    summary,
    parameters: [...parameters('path', pathSchema(operation)), ...parameters('query', query)],
    ...(body && { requestBody: { required: true, content: json(body) } }),
    responses: { ...answer(operation), default: refusal },
  };
}

const refusal = { description: 'A refusal.', content: json(protocol.ErrorBody) };

function answer({ status = 200, answer: schema = z.object({}), streams }: Operation) {
  if (!streams) return { [status]: { description: 'Done.', content: json(schema) } };
  const content = { 'text/event-stream': { schema: { type: 'string' } } };
  return { 200: { description: 'Server-sent events.', content } };
}

function parameters(place: 'path' | 'query', schema: z.ZodObject = z.object({})) {
  const fields: [string, unknown][] = Object.entries(schema.shape);
  return fields.flatMap(([name, field]) => {
    if (!(field instanceof z.ZodType)) return [];
    const required = place === 'path' || !field.safeParse(undefined).success;
    return [{ name, in: place, required, schema: reference(field) }];
  });
}

function json(schema: z.ZodType) {
  return { 'application/json': { schema: reference(schema) } };
}

function reference(schema: z.ZodType) {
  const id = named.get(schema)?.id;
  return id === undefined ? z.toJSONSchema(schema, { io: 'input' }) : { $ref: uri(id) };
}
