import { thrownMessage, withRetries } from '@liminal/protocol';
import { setTimeout } from 'node:timers/promises';
import type {
  ApiFromModules,
  FunctionArgs,
  FunctionReference,
  FunctionReturnType,
} from 'convex/server';
import { anyApi } from 'convex/server';
import { ConvexError } from 'convex/values';
import type * as blobs from '../../convex/blobs.ts';
import type * as deleted from '../../convex/deleted.ts';
import type * as grants from '../../convex/grants.ts';
import type * as history from '../../convex/history.ts';
import type * as responses from '../../convex/responses.ts';
import type * as search from '../../convex/search.ts';
import type { tryAgain } from '../../convex/server.ts';
import type * as sessions from '../../convex/sessions.ts';
import type * as version from '../../convex/version.ts';
import { errors, StorageError } from '../errors.ts';

type Api = ApiFromModules<{
  blobs: typeof blobs;
  deleted: typeof deleted;
  grants: typeof grants;
  history: typeof history;
  responses: typeof responses;
  search: typeof search;
  sessions: typeof sessions;
  version: typeof version;
}>;

/** The functions of `convex/` by name, with typed arguments and results, like the output of Convex's code generator. */
export const api = anyApi as unknown as Api;

type Query = FunctionReference<'query'>;
type Mutation = FunctionReference<'mutation'>;
type Arguments<Function extends Query | Mutation> = Omit<FunctionArgs<Function>, 'secret'>;

/** Calls Convex functions: Convex's client, or a test's. */
export interface ConvexCaller {
  query(query: Query, args: Record<string, unknown>): Promise<unknown>;
  mutation(mutation: Mutation, args: Record<string, unknown>): Promise<unknown>;
}

const againCode: typeof tryAgain = 'AGAIN';
/** How many times a call is attempted if the data that it uses changes during the call. */
const attempts = 10;
/** Half of the longest wait before the second attempt, in ms. The wait doubles with each further attempt. */
const pause = 10;

/** A deployment and its secret. */
export class Deployment {
  readonly #caller: ConvexCaller;
  readonly #secret: string;

  constructor(caller: ConvexCaller, secret: string) {
    this.#caller = caller;
    this.#secret = secret;
  }

  async query<Q extends Query>(query: Q, args: Arguments<Q>): Promise<FunctionReturnType<Q>> {
    return this.#caller.query(query, { ...args, secret: this.#secret });
  }

  async mutation<M extends Mutation>(
    mutation: M,
    args: Arguments<M>,
  ): Promise<FunctionReturnType<M>> {
    return this.#caller.mutation(mutation, { ...args, secret: this.#secret });
  }

  /**
   * Runs work that reads, and restarts it if its data changes in the meantime. Throws StorageError `STORE_READ_FAILED`.
   */
  async read<T>(work: () => Promise<T>): Promise<T> {
    return this.#attempt('STORE_READ_FAILED', work);
  }

  /**
   * Runs work that writes, and restarts it if other callers write the same data. Throws StorageError
   * `STORE_WRITE_FAILED`, or the work's own error.
   */
  async write<T>(work: () => Promise<T>): Promise<T> {
    return this.#attempt('STORE_WRITE_FAILED', work);
  }

  async #attempt<T>(
    code: 'STORE_READ_FAILED' | 'STORE_WRITE_FAILED',
    work: () => Promise<T>,
  ): Promise<T> {
    return withRetries(work, async (cause, attempt) => {
      if (cause instanceof StorageError) throw cause;
      if (!isAgain(cause) || attempt >= attempts) {
        throw errors[code].failed('The Convex deployment', reasonOf(cause), { cause });
      }
      // A random wait, so that servers do not retry at the same moment.
      await setTimeout(Math.random() * pause * 2 ** attempt);
    });
  }
}

function isAgain(error: unknown): boolean {
  return error instanceof ConvexError && error.data === againCode;
}

export function reasonOf(error: unknown): string {
  if (isAgain(error)) return 'other servers write the same data at the same time';
  if (error instanceof ConvexError) return String(error.data);
  return thrownMessage(error);
}
