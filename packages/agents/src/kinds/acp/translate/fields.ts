import { z } from 'zod';
import { isRecord } from '../../../base/parse-line.ts';

export { isRecord } from '../../../base/parse-line.ts';

type Shape = Record<string, z.ZodType>;

export interface Read<S extends Shape> {
  fields: { [K in keyof S]?: Exclude<z.infer<S[K]>, undefined> };
  /**
   * The fields that the shape lacks, and the fields with values that the shape's schemas reject; undefined if there are
   * none.
   */
  rest: Record<string, unknown> | undefined;
}

/**
 * Like `readFields`, but does not return the rest, so that a record of a million fields costs no more than a record of
 * ten.
 */
export function pickFields<S extends Shape>(value: unknown, shape: S): Read<S>['fields'] {
  if (!isRecord(value)) return {};
  const named = Object.keys(shape).filter((key) => Object.hasOwn(value, key));
  return readFields(Object.fromEntries(named.map((key) => [key, value[key]])), shape).fields;
}

/**
 * Reads a record field by field, so that the valid fields are read even if one field is invalid. In ACP, `null` means
 * that a field is missing. A value that is not a record has no fields.
 */
export function readFields<S extends Shape>(value: unknown, shape: S): Read<S> {
  const fields: [string, unknown][] = [];
  const rest: [string, unknown][] = [];
  for (const [key, field] of isRecord(value) ? Object.entries(value) : []) {
    if (field === null) continue;
    const read = Object.hasOwn(shape, key) ? shape[key]?.safeParse(field) : undefined;
    if (read?.success === true) fields.push([key, read.data]);
    else rest.push([key, field]);
  }
  return {
    // The cast is safe: each field has been read by its own schema.
    fields: Object.fromEntries(fields) as Read<S>['fields'],
    rest: rest.length === 0 ? undefined : Object.fromEntries(rest),
  };
}

/** Returns the type of an update; `''` if it has none. */
export function updateType(update: unknown): string {
  const type = isRecord(update) ? update['sessionUpdate'] : undefined;
  return typeof type === 'string' ? type : '';
}
