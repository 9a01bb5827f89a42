/** Routes declare inputs and outputs as Zod schemas, and Fastify checks by them. */
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchemaCompiler,
  FastifyTypeProvider,
  RawServerDefault,
} from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { RequestError, type ServerErrorCode } from './errors.ts';

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

const codes: Record<string, { code: ServerErrorCode; what: string }> = {
  body: { code: 'INVALID_BODY', what: 'body' },
  querystring: { code: 'INVALID_QUERY', what: 'query' },
  params: { code: 'INVALID_PATH', what: 'path' },
};

/** Makes an instance check by Zod schemas; with `checkAnswers` also its answers. */
export function checkByZod(app: FastifyInstance, checkAnswers: boolean): App {
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler<z.ZodType>(({ schema }) => {
    return (answer) => JSON.stringify(checkAnswers ? schema.parse(answer) : answer);
  });
  return app.withTypeProvider<ZodTypeProvider>();
}

const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = codes[httpPart ?? ''] ?? { code: 'INVALID_REQUEST', what: 'request' };
  return (value: unknown) => {
    // Fastify gives a missing body as null: nothing is chosen then.
    const parsed = schema.safeParse(value ?? {});
    if (parsed.success) return { value: parsed.data };
    return { error: new RequestError(part.code, describeIssues(part.what, parsed.error)) };
  };
};

/** Names each wrong field and its problem. */
function describeIssues(what: string, error: z.ZodError): string {
  const issues = error.issues.map(({ path, message }) => {
    return path.length === 0 ? message : `${path.join('.')}: ${message}`;
  });
  return `The ${what} is not as it should be. ${issues.join('; ')}`;
}
