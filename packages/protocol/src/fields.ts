/**
 * Tables of fields. Each field of an item is declared once, with its schema and with the other places in which the
 * field occurs.
 */
import { z } from 'zod';

export interface Roles {
  /** The event that starts the item can contain the field. */
  readonly start?: true;
  /** A patch can replace the field. */
  readonly patch?: true;
  /** The field is the item's text; deltas extend the text. */
  readonly text?: true;
  /** The item's upsert contains the field. If the value is a string, the field has this name in the upsert. */
  readonly shown?: true | string;
}

export type Fields = Readonly<Record<string, Roles & { readonly schema: z.ZodType }>>;

/** Returns a field of an item. A field without roles occurs only in the ended item. */
export function field<S extends z.ZodType, const R extends Roles = object>(schema: S, roles?: R) {
  return { schema, ...roles } as R & { readonly schema: S };
}

/** The keys of the fields that have a role. */
export type KeyWith<F extends Fields, R extends keyof Roles> = string &
  { [K in keyof F]: F[K] extends Readonly<Record<R, true>> ? K : never }[keyof F];

type Optional<S extends z.ZodType> = S extends z.ZodOptional ? S : z.ZodOptional<S>;
type ShownName<K, F> = F extends { readonly shown: infer N } ? (N extends string ? N : K) : never;
type ShownShape<F extends Fields> = { [K in keyof F as ShownName<K, F[K]>]: F[K]['schema'] };
/** The fields of an upsert. */
export type Shown<F extends Fields> = z.infer<z.ZodObject<ShownShape<F>>>;

// TypeScript cannot derive which keys these functions choose, so the types above repeat the choice.

/** Returns the schemas of an item's fields. */
export function itemShape<F extends Fields>(fields: F) {
  const shape = Object.entries(fields).map(([key, { schema }]) => [key, schema]);
  return Object.fromEntries(shape) as { [K in keyof F]: F[K]['schema'] };
}

/** The schemas of the fields that have a role; all are optional. */
export function optionalShape<F extends Fields, R extends 'start' | 'patch'>(fields: F, role: R) {
  const shape = Object.entries(fields).flatMap(([key, { schema, [role]: has }]) =>
    has ? [[key, schema instanceof z.ZodOptional ? schema : schema.optional()]] : [],
  );
  return Object.fromEntries(shape) as { [K in KeyWith<F, R>]: Optional<F[K]['schema']> };
}

/** Returns the schemas of an upsert's fields. */
export function shownShape<F extends Fields>(fields: F) {
  const shape = shownNames(fields).map(([key, name]) => [name, fields[key]?.schema]);
  return Object.fromEntries(shape) as ShownShape<F>;
}

/** For each field of an upsert, its key in the item and its name in the upsert. */
export const shownNames = (fields: Fields): readonly (readonly [key: string, name: string])[] =>
  Object.entries(fields).flatMap(([key, { shown }]) =>
    shown === undefined ? [] : [[key, shown === true ? key : shown] as const],
  );
