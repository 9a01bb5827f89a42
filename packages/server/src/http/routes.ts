import {
  requestArguments,
  type Operation,
  operations,
  pathSchema,
  readTrace,
  refusalsOfAny,
} from '@liminal/protocol';
import { perform, type Runtime } from '@liminal/runtime';
import type { FastifyError } from 'fastify';
import { z } from 'zod';
import { answerError, describeError } from './error-answers.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import type { App } from './schema.ts';

/** The response of operations that return nothing. */
const Done = z.object({});

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

type StatusOf<O> = O extends { status: infer Status extends number } ? Status : 200;

interface Schema<O extends Operation> {
  params: ReturnType<typeof pathSchema<O>>;
  querystring: O['query'];
  body: O['body'];
  response: O extends { answer: infer Answer } ? Record<StatusOf<O>, Answer> : object;
}

/** Converts an operation to a Fastify route without a handler. */
export function routeOf<O extends Operation>(operation: O) {
  const {
    method,
    path,
    query,
    body,
    status = 200,
    answer = Done,
    streams,
    bytes,
    access,
  }: Operation = operation;
  const isJson = !streams && bytes !== 'answer';
  // Fastify logs a warning if the value of a schema's key is undefined.
  const schema = {
    params: pathSchema(operation),
    ...(query && { querystring: query }),
    ...(body && { body }),
    ...(isJson && { response: { [status]: answer } }),
  };
  return {
    method,
    url: path,
    schema: schema as Schema<O>,
    config: { operation, ...(access && { access }) },
  };
}

/** Operations whose responses can be several megabytes long. */
const largeOperations: ReadonlySet<string> = new Set([
  'history',
  'getRun',
  'search',
  'readFile',
  'diff',
]);

/** Adds a route for each operation of the runtime. */
export async function operationRoutes(app: App, { runtime }: { runtime: Runtime }) {
  for (const name of Object.keys(operations) as (keyof typeof operations)[]) {
    const operation: Operation = operations[name];
    const { status = 200, unwrap, body: hasBody } = operation;
    app.route({
      ...routeOf(operation),
      ...(largeOperations.has(name) && limitConcurrency()),
      handler: async ({ params, query, body, headers }, reply) => {
        const tracedBody = operation.traced ? withTrace(body, { ...headers }) : body;
        const args = requestArguments(operation, {
          ids: params,
          content: hasBody ? tracedBody : query,
        });
        const given = await perform(runtime, name, args);
        const answer = unwrap === undefined ? given : { [unwrap]: given };
        return reply.code(status).send(answer ?? {});
      },
    });
  }
}

/** Adds the trace context of the request's headers to a body without a trace context. */
function withTrace(body: unknown, headers: Record<string, unknown>): unknown {
  const traceContext = readTrace(headers);
  return traceContext && typeof body === 'object' ? { traceContext, ...body } : body;
}

/** For tests: throws if the error code is not in the operation's list. */
export function checkRefusals(app: App): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { operation } = request.routeOptions.config;
    const { code } = describeError(error).body.error;
    const known: readonly string[] = [...(operation?.refusals ?? [code]), ...refusalsOfAny];
    if (known.includes(code)) return void answerError(error, request, reply);
    const { method, path } = operation ?? {};
    throw new Error(`${method} ${path} was refused with ${code}, which its entry does not name.`);
  });
}
