/** A Convex deployment in memory, and its HTTP surface for Convex's client. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { convexTest } from 'convex-test';
import type { FunctionReference, TableNamesInDataModel } from 'convex/server';
import { getFunctionName, makeFunctionReference } from 'convex/server';
import { ConvexError, convexToJson, getConvexSize, jsonToConvex } from 'convex/values';
import schema, { type DataModel } from '../convex/schema.ts';
import type { ConvexCaller } from '../src/convex/deployment.ts';

export const secret = 'a-secret-of-the-tests';
process.env['LIMINAL_SECRET'] = secret;

/** The functions as Convex finds them: generated files are not needed, but their folder marks the root. */
export const modules = {
  ...import.meta.glob('../convex/*.ts'),
  '../convex/_generated/api.ts': async () => ({}),
};

/** Convex's limit for the arguments or the result of one call. */
const callMax = 16 * 1_048_576;
const arrayMax = 8_192;
/** Convex's limit for one document. */
const documentMax = 1_048_576;

/** Half of Convex's current limits for one function, since a self-hosted deployment may still have them. */
const transactionLimits = {
  bytesRead: 8 * 1_048_576,
  bytesWritten: 8 * 1_048_576,
  documentsRead: 16_384,
  documentsWritten: 8_192,
};

type Table = TableNamesInDataModel<DataModel>;

/** Runs the real functions within Convex's limits. */
export function deploy() {
  const backend = convexTest({ schema, modules, transactionLimits });
  const caller: ConvexCaller = {
    query: async (query, args) => checked(await backend.query(query, checked(args))),
    mutation: async (mutation, args) => checked(await backend.mutation(mutation, checked(args))),
  };
  /** The number of documents in a table. */
  const count = async (table: Table) => (await sizesIn(table)).length;
  /** The bytes of the documents of these tables. */
  const size = async (...tables: Table[]) =>
    (await Promise.all(tables.map(sizesIn))).flat().reduce((sum, each) => sum + each, 0);
  const sizesIn = async (table: Table) => {
    const sizes: number[] = [];
    for (let cursor: string | null = null, isDone = false; !isDone;) {
      const found = await backend.run(async (ctx) => {
        const page = await ctx.db.query(table).paginate({ cursor, numItems: 10 });
        const found = page.page.map((document) => getConvexSize(document));
        return { found, isDone: page.isDone, cursor: page.continueCursor };
      });
      sizes.push(...found.found);
      ({ cursor, isDone } = found);
    }
    return sizes;
  };
  return {
    backend,
    caller,
    count,
    size,
    tidied: async () => backend.finishInProgressScheduledFunctions(),
  };
}

/** Returns arguments or a result; throws if they exceed Convex's limits. */
function checked<T>(value: T): T {
  const size = Buffer.byteLength(JSON.stringify(value));
  if (size > callMax) throw new Error('The call is too large.');
  // The arguments of most calls are smaller than the size limit of a document, so their texts need no check.
  for (const text of size > documentMax ? textsIn(value) : []) {
    if (Buffer.byteLength(text) > documentMax) throw new Error('The document is too large.');
  }
  const long = Object.values(value ?? {}).find(
    (one) => Array.isArray(one) && one.length > arrayMax,
  );
  if (long) throw new Error('The array is too long.');
  return value;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** A caller that records its calls, and can be made to fail. */
export function watched({ query, mutation }: ConvexCaller) {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const watch = { calls, before: (_name: string): void => {} };
  const tell = (
    reference: FunctionReference<'query' | 'mutation'>,
    args: (typeof calls)[0]['args'],
  ) => {
    const name = getFunctionName(reference);
    watch.before(name);
    calls.push({ name, args });
  };
  const caller: ConvexCaller = {
    query: async (reference, args) => {
      tell(reference, args);
      return query(reference, args);
    },
    mutation: async (reference, args) => {
      tell(reference, args);
      return mutation(reference, args);
    },
  };
  return { ...watch, watch, caller };
}

/** Serves a deployment on the loopback interface. */
export async function serve({ query, mutation }: ConvexCaller) {
  const server = createServer((request, response) => {
    const answer = async (): Promise<unknown> => {
      const { path, args } = (await json(request)) as { path: string; args: never[] };
      const values = jsonToConvex(args[0]!) as Record<string, unknown>;
      try {
        const value = request.url?.endsWith('/mutation')
          ? await mutation(makeFunctionReference<'mutation'>(path), values)
          : await query(makeFunctionReference<'query'>(path), values);
        return { status: 'success', value: convexToJson(value as null), logLines: [] };
      } catch (error) {
        const data = error instanceof ConvexError && { errorData: error.data as string };
        return { status: 'error', errorMessage: String(error), ...data, logLines: [] };
      }
    };
    void answer().then((body) => response.end(JSON.stringify(body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
