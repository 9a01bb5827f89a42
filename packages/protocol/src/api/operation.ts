/**
 * One operation of the server, described as data. Other code is generated from the table: routes, the client's
 * functions, the OpenAPI document, the commands between servers, and the table in docs/protocol-operations.md.
 */
import { z } from 'zod';
import type { RefusalCode } from './refusals.ts';

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path; `:name` in the path is a placeholder for an id, which is an argument of the operation. */
  path: string;
  /** A sentence for people that describes what the operation does. */
  summary: string;
  /** The query or the body; an operation has at most one of the two. */
  query?: z.ZodObject;
  body?: z.ZodType;
  /**
   * Fields of the query or body that are separate arguments, in this order. All other fields together are the last
   * argument.
   */
  fields?: readonly string[];
  /** The status of a successful answer: 200 by default. */
  status?: number;
  /** The schema of the answer; without a schema the answer is `{}`. */
  answer?: z.ZodType;
  /** If set, the caller gets only this field of the answer instead of the whole answer. */
  unwrap?: string;
  /** If true, the answer is a stream of server-sent events. */
  streams?: true;
  /** If true, the body has the field `traceContext`; a request may instead send the trace in its headers. */
  traced?: true;
  /** Set if the request's body (`request`) or the answer (`answer`) is a file instead of JSON. */
  bytes?: 'request' | 'answer';
  /**
   * `open`: every client that reaches the server may call the operation, without credentials. Without `open`, a request
   * needs credentials.
   */
  access?: 'open';
  /** The codes with which the operation can be refused, besides the codes of every request. */
  refusals: readonly RefusalCode[];
}

/** The longest id in a path, in characters; some ids are chosen by agents. */
export const idMax = 300;
const Id = z.string().min(1).max(idMax);

/** `given`: the type of the value that a caller passes. `read`: the type after the schemas have filled in defaults. */
type SchemaSide = 'given' | 'read';
type Value<Schema, S extends SchemaSide> = S extends 'given' ? z.input<Schema> : z.output<Schema>;

type IdNames<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | IdNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
type Ids<Path> = Path extends `${string}:${string}/${infer Rest}`
  ? [id: string, ...Ids<Rest>]
  : Path extends `${string}:${string}`
    ? [id: string]
    : [];

type FieldsOf<O> = O extends { fields: infer Names } ? Names : [];
type RequestContent<O, S extends SchemaSide> = O extends { body: infer Schema }
  ? Value<Schema, S>
  : O extends { query: infer Schema }
    ? Value<Schema, S>
    : object;
type Spread<C, Names> = Names extends readonly [infer Name extends keyof C, ...infer More]
  ? [...(undefined extends C[Name] ? [C[Name]?] : [C[Name]]), ...Spread<Omit<C, Name>, More>]
  : keyof C extends never
    ? []
    : object extends C
      ? [options?: C]
      : [content: C];

/** An operation's arguments: the ids in its path, then its content, divided by `fields`. */
export type OperationArguments<O extends Operation, S extends SchemaSide = 'given'> = [
  ...Ids<O['path']>,
  ...Spread<RequestContent<O, S>, FieldsOf<O>>,
];
/** The type of an operation's result for its caller. */
export type OperationResult<O extends Operation> = O extends { answer: infer Schema }
  ? O extends { unwrap: infer Field extends keyof z.output<Schema> }
    ? z.output<Schema>[Field]
    : z.output<Schema>
  : void;
/** The type with one method for each operation of a table. */
export type Methods<Table, S extends SchemaSide = 'given'> = {
  [Name in keyof Table]: Table[Name] extends Operation
    ? (...args: OperationArguments<Table[Name], S>) => Promise<OperationResult<Table[Name]>>
    : never;
};

/** The parts of an operation's request. */
interface RequestParts {
  ids: Record<string, unknown>;
  /** The query or the body; undefined if the operation has neither. */
  content?: unknown;
}

/** Returns the schema of the ids in an operation's path. */
export function pathSchema<O extends Operation>({
  path,
}: O): z.ZodObject<Record<IdNames<O['path']>, z.ZodString>> {
  const shape = Object.fromEntries(idNames(path).map((name) => [name, Id]));
  return z.object(shape as Record<IdNames<O['path']>, z.ZodString>);
}

/** Returns the arguments of an operation from the parts of its request. */
export function requestArguments(operation: Operation, { ids, content }: RequestParts): unknown[] {
  const given = idNames(operation.path).map((name) => ids[name]);
  const { fields = [] } = operation;
  if (!isObject(content)) return given;
  const rest = Object.entries(content).filter(([name]) => !fields.includes(name));
  const named = fields.map((name) => content[name]);
  return [...given, ...named, ...(hasRest(operation) ? [Object.fromEntries(rest)] : [])];
}

/** Returns the parts of an operation's request from its arguments, without checking them. */
export function requestParts(
  operation: Operation,
  args: readonly unknown[],
): { ids: RequestParts['ids']; content?: Record<string, unknown> } {
  const names = idNames(operation.path);
  const { fields = [] } = operation;
  const ids = Object.fromEntries(names.map((name, index) => [name, args[index]]));
  if (!contentSchema(operation)) return { ids };
  const [named, rest] = [args.slice(names.length), args[names.length + fields.length]];
  const content = Object.fromEntries(fields.map((name, index) => [name, named[index]]));
  return { ids, content: { ...content, ...(isObject(rest) && rest) } };
}

/** Arguments from an untrusted source, parsed by the operation's schemas. Throws a ZodError. */
export function readArguments(operation: Operation, args: readonly unknown[]): unknown[] {
  const { ids, content } = requestParts(operation, args);
  return requestArguments(operation, {
    ids: pathSchema(operation).parse(ids),
    content: contentSchema(operation)?.parse(content),
  });
}

/** Returns an operation's path in which the ids are filled in. */
export function fillPath({ path }: Operation, ids: Record<string, unknown>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(ids[name])));
}

function idNames(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => String(name));
}

function contentSchema({ body, query }: Operation): z.ZodType | undefined {
  return body ?? query;
}

function hasRest(operation: Operation): boolean {
  const schema = contentSchema(operation);
  return (
    schema instanceof z.ZodObject &&
    Object.keys(schema.shape).length > (operation.fields?.length ?? 0)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
