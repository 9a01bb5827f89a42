import * as protocol from '@liminal/protocol';
import {
  type Operation,
  operations,
  pathSchema,
  refusals,
  serverOperations,
} from '@liminal/protocol';
import { z } from 'zod';
import {
  createDocument,
  type CreateDocumentOptions,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi';
import type { App } from './schema.ts';

/** The protocol's schemas by name. The document refers to these schemas instead of repeating them. */
const schemas = Object.fromEntries(
  Object.entries(protocol).filter(([, value]) => value instanceof z.ZodType),
) as Record<string, z.ZodType>;

/** Serves the OpenAPI document of all operations. */
export function openApiRoute(app: App, { version }: { version: string }) {
  app.get('/openapi.json', () =>
    createDocument(
      {
        openapi: '3.1.0',
        info: { title: 'Liminal', version },
        // Use a relative address, because a server may have any address.
        servers: [{ url: '/' }],
        paths: paths({ ...operations, ...serverOperations }),
        components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
        security: [{ token: [] }],
      },
      { override: allowMore },
    ),
  );
}

/**
 * Allows unknown fields in the schemas, because the server ignores unknown fields, and later versions may send more
 * fields.
 */
const allowMore: CreateDocumentOptions['override'] = ({ jsonSchema }) => {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/**
 * Returns the paths of the OpenAPI document. Each operation's name becomes its `operationId`. Generated clients use
 * `operationId` as the name of their functions.
 */
function paths(all: Record<string, Operation>) {
  const byPath = Map.groupBy(Object.entries(all), ([, { path }]) =>
    path.replaceAll(/:(\w+)/g, '{$1}'),
  );
  return Object.fromEntries(
    [...byPath].map(([path, there]) => [
      path,
      Object.fromEntries(
        there.map(([name, one]) => [one.method.toLowerCase(), describe(name, one)]),
      ),
    ]),
  );
}

function describe(operationId: string, operation: Operation): ZodOpenApiOperationObject {
  const { summary, query, body, bytes } = operation;
  return {
    operationId,
    summary,
    requestParams: { path: pathSchema(operation), ...(query && { query }) },
    ...(body && { requestBody: { required: true, content: json(body) } }),
    ...(bytes === 'request' && { requestBody: { required: true, content: file } }),
    responses: {
      ...successResponse(operation),
      ...refusalResponses(operation),
      default: errorResponse('A refusal.'),
    },
  };
}

function successResponse(operation: Operation): ZodOpenApiResponsesObject {
  const { status = 200, answer: schema = z.object({}), streams, bytes } = operation;
  if (bytes === 'answer') return { [status]: { description: 'The file.', content: file } };
  if (!streams) return { [status]: { description: 'Done.', content: json(schema) } };
  const content = { 'text/event-stream': { schema: { type: 'string' } } } as const;
  return { 200: { description: 'Server-sent events.', content } };
}

/** Returns the operation's own error codes, without the codes that every request can have. */
function refusalResponses(operation: Operation): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(operation.refusals, (code) => refusals[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, errorResponse(`${codes.join(', ')}.`)]),
  );
}

function errorResponse(description: string) {
  return { description, content: json(protocol.ErrorBody) };
}

const file = { '*/*': { schema: { type: 'string', format: 'binary' } } } as const;

function json(schema: z.ZodType) {
  return { 'application/json': { schema } };
}
