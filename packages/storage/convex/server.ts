/** Convex's function builders, typed with our tables, as Convex's code generator would write them. */
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
export const tryAgain = 'AGAIN';

export function again(): ConvexError<string> {
  return new ConvexError(tryAgain);
}

/** The approximate most bytes that one call reads or returns: Convex allows 16 MiB, older versions 8 MiB. */
export const callMax = 6 * 1_048_576;
/** The most bytes that one call deletes: Convex counts a document when it is read and again when it is deleted. */
export const deletedMax = callMax / 3;

/** Must be called first by every function, since anyone who knows a deployment's address can call its functions. */
export function assertSecret(secret: string): void {
  const expected = process.env['LIMINAL_SECRET'];
  if (expected !== undefined && expected !== '' && secret === expected) return;
  throw new ConvexError(
    'The secret differs from LIMINAL_SECRET in the environment of the Convex deployment.',
  );
}
