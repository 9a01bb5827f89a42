/** Convex's builders for our tables, as its code generator would write them. */
import type {
  DocumentByName,
  GenericMutationCtx,
  GenericQueryCtx,
  MutationBuilder,
  QueryBuilder,
  TableNamesInDataModel,
} from 'convex/server';
import { internalMutationGeneric, mutationGeneric, queryGeneric } from 'convex/server';
import { ConvexError } from 'convex/values';
import type { DataModel } from './schema.ts';

export const query: QueryBuilder<DataModel, 'public'> = queryGeneric;
export const mutation: MutationBuilder<DataModel, 'public'> = mutationGeneric;
export const internalMutation: MutationBuilder<DataModel, 'internal'> = internalMutationGeneric;

export type QueryCtx = GenericQueryCtx<DataModel>;
export type Doc<Table extends TableNamesInDataModel<DataModel>> = DocumentByName<DataModel, Table>;
export type MutationCtx = GenericMutationCtx<DataModel>;

/** The data has changed since the caller read it: the call did nothing, and the caller may start over. */
export const AGAIN = 'AGAIN';

export function again(): ConvexError<string> {
  return new ConvexError(AGAIN);
}

/** About the most bytes that one call reads or returns: Convex allows 16 MiB, older versions 8 MiB. */
export const CALL_MAX = 6 * 1_048_576;
/** The most that it deletes: those documents are read, and counted again when deleted. */
export const DELETED_MAX = CALL_MAX / 3;

/** A deployment's functions can be called by anyone who knows its address: every one begins with this. */
export function assertSecret(secret: string): void {
  const expected = process.env['LIMINAL_SECRET'];
  if (expected !== undefined && expected !== '' && secret === expected) return;
  throw new ConvexError(
    'The secret is not the one that LIMINAL_SECRET names in the environment of the Convex deployment.',
  );
}
