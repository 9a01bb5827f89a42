/**
 * One thing that can be asked of the server, as data. Routes, the client's functions, the OpenAPI document, the passing
 * of commands between servers and the table in docs/protocol.md are made from it.
 */
import { z } from 'zod';
import type { RefusalCode } from './refusals.ts';

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `:name` stands for an id, which is an argument. */
  path: string;
  /** What it is for, in a sentence for people. */
  summary: string;
  /** An operation has a query, a body, or neither. */
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Fields of the query or body that are arguments of their own, in this order. What else it has is the last argument. */
  fields?: readonly string[];
  /** Of an answer that is no refusal: 200 if not said. */
  status?: number;
  /** Without it the answer is `{}`. */
  answer?: z.ZodType;
  /** The one field of the answer that is given to the caller. */
  unwrap?: string;
  /** The answer is a stream of server-sent events. */
  streams?: true;
  /** What it can be refused with, besides what any request can. */
  refusals: readonly RefusalCode[];
}

/** Longest id in a path, in characters; agents choose some of them. */
export const ID_MAX = 300;
const Id = z.string().min(1).max(ID_MAX);

/** `given` by a caller, or `read`: with what the schemas fill in. */
type Side = 'given' | 'read';
type Value<Schema, S extends Side> = S extends 'given' ? z.input<Schema> : z.output<Schema>;

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
type Content<O, S extends Side> = O extends { body: infer Schema }
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

/** What an operation is called with: the ids in its path, then its content by `fields`. */
export type Arguments<O extends Operation, S extends Side = 'given'> = [
  ...Ids<O['path']>,
  ...Spread<Content<O, S>, FieldsOf<O>>,
];
/** What the caller of an operation is given. */
export type Answer<O extends Operation> = O extends { answer: infer Schema }
  ? O extends { unwrap: infer Field extends keyof z.output<Schema> }
    ? z.output<Schema>[Field]
    : z.output<Schema>
  : void;
/** A method for each operation of a table, by its name. */
export type Methods<Table, S extends Side = 'given'> = {
  [Name in keyof Table]: Table[Name] extends Operation
    ? (...args: Arguments<Table[Name], S>) => Promise<Answer<Table[Name]>>
    : never;
};

/** An operation's request in its parts. */
interface Parts {
  ids: Record<string, unknown>;
  /** The query or the body; undefined where there is neither. */
  content?: unknown;
}

/** What the ids in an operation's path must be. */
export function pathSchema<O extends Operation>({
  path,
}: O): z.ZodObject<Record<IdNames<O['path']>, z.ZodString>> {
  const shape = Object.fromEntries(idNames(path).map((name) => [name, Id]));
  return z.object(shape as Record<IdNames<O['path']>, z.ZodString>);
}

/** What an operation is called with, by the parts of its request. */
export function argumentsOf(operation: Operation, { ids, content }: Parts): unknown[] {
  const given = idNames(operation.path).map((name) => ids[name]);
  const { fields = [] } = operation;
  if (!isObject(content)) return given;
  const rest = Object.entries(content).filter(([name]) => !fields.includes(name));
  const named = fields.map((name) => content[name]);
  return [...given, ...named, ...(hasRest(operation) ? [Object.fromEntries(rest)] : [])];
}

/** The parts of an operation's request, by what it is called with. Nothing is checked. */
export function partsOf(
  operation: Operation,
  args: readonly unknown[],
): { ids: Parts['ids']; content?: Record<string, unknown> } {
  const names = idNames(operation.path);
  const { fields = [] } = operation;
  const ids = Object.fromEntries(names.map((name, index) => [name, args[index]]));
  if (!contentSchema(operation)) return { ids };
  const [named, rest] = [args.slice(names.length), args[names.length + fields.length]];
  const content = Object.fromEntries(fields.map((name, index) => [name, named[index]]));
  return { ids, content: { ...content, ...(isObject(rest) && rest) } };
}

/** Arguments that may come from elsewhere, as the operation's schemas read them. Throws a ZodError. */
export function readArguments(operation: Operation, args: readonly unknown[]): unknown[] {
  const { ids, content } = partsOf(operation, args);
  return argumentsOf(operation, {
    ids: pathSchema(operation).parse(ids),
    content: contentSchema(operation)?.parse(content),
  });
}

/** An operation's path with the ids in their places. */
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
