import { ConvexHttpClient } from 'convex/browser';
import { errors, StorageError } from '../errors.ts';
import type { OpenedDatabase } from '../storage.ts';
import { ConvexBlobStore } from './blob-store.ts';
import { api, type ConvexCaller, Deployment, reasonOf } from './deployment.ts';
import { ConvexResponseStore } from './response-store.ts';

/** The timeout of one call, ms. */
const callTimeout = 30_000;
/** The version of the functions that this driver needs: `convex/version.ts`. */
const functionsVersion = 7;

export async function openConvex(url: string, secret: string): Promise<OpenedDatabase> {
  try {
    return await openDeployment(createCaller(url), secret);
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    throw errors.DATABASE_UNUSABLE.convex(url, reasonOf(cause), { cause });
  }
}

/** Opens the store and its blobs through a caller of the functions. */
export async function openDeployment(
  caller: ConvexCaller,
  secret: string,
): Promise<OpenedDatabase> {
  const deployment = new Deployment(caller, secret);
  const version = await deployment.query(api.version.get, {});
  if (version > functionsVersion) {
    throw errors.DATA_TOO_NEW.convex(version, functionsVersion);
  }
  if (version < functionsVersion) {
    throw errors.DATABASE_UNUSABLE.convexTooOld(version, functionsVersion);
  }
  return {
    store: new ConvexResponseStore(deployment),
    blobs: new ConvexBlobStore(deployment),
    close: async () => {},
  };
}

function createCaller(url: string): ConvexCaller {
  const client = new ConvexHttpClient(url, {
    logger: false,
    // A self-hosted deployment may have any address, so the address is not checked.
    skipConvexDeploymentUrlCheck: true,
    fetch: async (input, init) =>
      fetch(input, { ...init, signal: AbortSignal.timeout(callTimeout) }),
  });
  return {
    query: async (query, args): Promise<unknown> => client.query(query, args),
    // Send mutations in parallel, because Convex itself orders mutations of the same data.
    mutation: async (mutation, args): Promise<unknown> =>
      client.mutation(mutation, args, { skipQueue: true }),
  };
}
