/** Routes declare their inputs and outputs as Zod schemas, and Fastify validates them. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { errors, type RequestError } from '../errors.ts';
import { parseInput } from '../parse-input.ts';

interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  serializer: this['schema'] extends z.ZodType ? z.input<this['schema']> : unknown;
}

/** A Fastify instance whose routes are typed by their Zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The error for an invalid part of a request, by Fastify's name of the part. */
const invalid: Record<string, (problems: string) => RequestError> = {
  body: errors.INVALID_BODY.invalid,
  querystring: errors.INVALID_QUERY.invalid,
  params: errors.INVALID_PATH.invalid,
};

/** Makes a Fastify instance validate requests with Zod schemas; with `checkAnswers`, also responses. */
export function checkByZod(app: FastifyInstance, checkAnswers: boolean): App {
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler<z.ZodType>(({ schema }) => {
    return (answer) => JSON.stringify(checkAnswers ? schema.parse(answer) : answer);
  });
  return app.withTypeProvider<ZodTypeProvider>();
}

const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart, url }) => {
  const makeError = invalid[httpPart ?? ''] ?? errors.INVALID_REQUEST.invalid;
  const nameOf = httpPart === 'params' ? idIn(url ?? '') : undefined;
  return (value: unknown) => {
    // For a missing body, Fastify passes null. Read null as an empty object.
    const parsed = parseInput(schema, value ?? {}, nameOf);
    return 'value' in parsed ? parsed : { error: makeError(parsed.problems) };
  };
};

/**
 * Returns the name that errors use for an id in a route's path. For `:id`, this is the path segment before the id; for
 * any other parameter, such as `:turnId`, the parameter's own name.
 */
function idIn(url: string): (name: string) => string {
  const parts = url.split('/');
  const owner = parts[parts.indexOf(':id') - 1];
  return (name) => (name === 'id' && owner !== undefined ? `the ${owner} id` : `\`${name}\``);
}
