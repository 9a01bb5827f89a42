import { ConvexHttpClient } from 'convex/browser';
import { StorageError } from '../errors.ts';
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
    const message = `The Convex deployment ${url} cannot be used: ${reasonOf(cause)}. Check the URL, and that its functions are deployed.`;
    throw new StorageError('DATABASE_UNUSABLE', message, { cause });
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
    throw new StorageError(
      'DATA_TOO_NEW',
      `The Convex deployment has functions of a newer Liminal (version ${version}, this one knows ${functionsVersion}). Update Liminal.`,
    );
  }
  if (version < functionsVersion) {
    throw new StorageError(
      'DATABASE_UNUSABLE',
      `The Convex deployment has functions of an older Liminal (version ${version}, this one needs ${functionsVersion}). Deploy them again.`,
    );
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
