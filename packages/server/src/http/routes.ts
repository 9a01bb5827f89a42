import {
  argumentsOf,
  type Operation,
  operations,
  pathSchema,
  refusalsOfAny,
} from '@liminal/protocol';
import { perform, type Runtime } from '@liminal/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerError, describeError } from './errors.ts';
import type { App } from './schema.ts';

/** What an operation that has nothing to tell answers with. */
const Done = z.object({});

interface Schema<O extends Operation> {
  params: ReturnType<typeof pathSchema<O>>;
  querystring: O['query'];
  body: O['body'];
}

/** An operation as a route of Fastify, but for its handler. */
export function routeOf<O extends Operation>(operation: O) {
  const { method, path, query, body, status = 200, answer = Done, streams }: Operation = operation;
  // Fastify warns of a schema that is named and not there.
  const schema = {
    params: pathSchema(operation),
    ...(query && { querystring: query }),
    ...(body && { body }),
    ...(!streams && { response: { [status]: answer } }),
  };
  return { method, url: path, schema: schema as Schema<O> };
}

interface Options {
  runtime: Runtime;
  /** Sees to it that each refusal stands in the operation's entry; for tests. */
  checkAnswers: boolean;
}

/** A route for each operation of the runtime. */
export async function operationRoutes(app: App, { runtime, checkAnswers }: Options) {
  for (const name of Object.keys(operations) as (keyof typeof operations)[]) {
    const operation: Operation = operations[name];
    const { status = 200, unwrap, body: hasBody } = operation;
    app.route({
      ...routeOf(operation),
      ...(checkAnswers && { errorHandler: knownRefusals(name, operation) }),
      handler: async ({ params, query, body }, reply) => {
        const args = argumentsOf(operation, { ids: params, content: hasBody ? body : query });
        const given = await perform(runtime, name, args);
        const answer = unwrap === undefined ? given : { [unwrap]: given };
        return reply.code(status).send(answer ?? {});
      },
    });
  }
}

/** Answers errors, and fails on a refusal that the operation's entry does not name. */
function knownRefusals(name: string, operation: Operation) {
  const known: readonly string[] = [...operation.refusals, ...refusalsOfAny];
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const { code } = describeError(error).body.error;
    if (known.includes(code)) return void answerError(error, request, reply);
    throw new Error(`${name} was refused with ${code}, which its entry does not name.`);
  };
}
