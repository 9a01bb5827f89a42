import * as protocol from '@liminal/protocol';
import type { RouteOptions } from 'fastify';
import { z } from 'zod';
import type { App } from './schema.ts';

/** The protocol's schemas under their own names, so that the document refers to each instead of repeating it. */
const named = z.registry<{ id: string }>();
for (const [id, value] of Object.entries(protocol)) {
  if (value instanceof z.ZodType) named.add(value, { id });
}
const uri = (id: string) => `#/components/schemas/${id}`;

/** Serves the OpenAPI document of all routes with a summary that are registered after this. */
export function openApiRoute(app: App, { version }: { version: string }) {
  const paths: Record<string, Record<string, unknown>> = {};
  app.addHook('onRoute', (route) => {
    if (!route.schema?.summary || route.method === 'HEAD') return;
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: describe(route) };
  });

  app.get('/openapi.json', () => ({
    openapi: '3.1.0',
    info: { title: 'Liminal', version },
    paths,
    components: {
      schemas: z.toJSONSchema(named, { uri }).schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ token: [] }],
  }));
}

function describe({ schema = {} }: RouteOptions) {
  return {
    summary: schema.summary,
    parameters: [...parameters('path', schema.params), ...parameters('query', schema.querystring)],
    ...(schema.body instanceof z.ZodType && {
      requestBody: { required: true, content: json(schema.body) },
    }),
    responses: { ...answers(schema.response), ...streamed(schema.streams), default: refusal },
  };
}

const refusal = { description: 'A refusal.', content: json(protocol.ErrorBody) };

function answers(response: unknown) {
  const entries: [string, unknown][] = Object.entries(response ?? {});
  return Object.fromEntries(
    entries.flatMap(([status, schema]) =>
      schema instanceof z.ZodType
        ? [[status, { description: 'Done.', content: json(schema) }]]
        : [],
    ),
  );
}

function streamed(streams: boolean | undefined) {
  if (!streams) return {};
  const content = { 'text/event-stream': { schema: { type: 'string' } } };
  return { 200: { description: 'Server-sent events.', content } };
}

function parameters(place: 'path' | 'query', schema: unknown) {
  if (!(schema instanceof z.ZodObject)) return [];
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
