/** A Convex deployment in memory, and its HTTP surface as Convex's client speaks to it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { convexTest } from 'convex-test';
import { makeFunctionReference } from 'convex/server';
import { ConvexError, convexToJson, jsonToConvex } from 'convex/values';
import schema from '../convex/schema.ts';
import type { ConvexCaller } from '../src/convex/deployment.ts';

export const secret = 'a-secret-of-the-tests';
process.env['LIMINAL_SECRET'] = secret;

/** The functions as Convex finds them. What its generator would write is not needed, but its folder marks the place. */
export const modules = {
  ...import.meta.glob('../convex/*.ts'),
  '../convex/_generated/api.ts': async () => ({}),
};

/** Convex takes no more in one call. */
const ARGUMENTS_MAX = 16 * 1_048_576;
const ARRAY_MAX = 8_192;
/** Nor holds more in one document. */
const DOCUMENT_MAX = 1_048_576;

/** Runs the real functions within Convex's limits. */
export function deploy() {
  const backend = convexTest({ schema, modules, transactionLimits: true });
  const caller: ConvexCaller = {
    query: async (query, args) => backend.query(query, checked(args)),
    mutation: async (mutation, args) => backend.mutation(mutation, checked(args)),
  };
  /** How many documents a table has. */
  const count = async (table: 'items' | 'words' | 'writes' | 'messages' | 'records') => {
    let counted = 0;
    for (let cursor: string | null = null, isDone = false; !isDone;) {
      const found = await backend.run(async (ctx) => {
        const page = await ctx.db.query(table).paginate({ cursor, numItems: 10 });
        return { length: page.page.length, isDone: page.isDone, cursor: page.continueCursor };
      });
      counted += found.length;
      ({ cursor, isDone } = found);
    }
    return counted;
  };
  return {
    backend,
    caller,
    count,
    tidied: async () => backend.finishInProgressScheduledFunctions(),
  };
}

function checked<T extends Record<string, unknown>>(args: T): T {
  if (Buffer.byteLength(JSON.stringify(args)) > ARGUMENTS_MAX) throw new Error('Too large a call.');
  for (const text of textsIn(args)) {
    if (Buffer.byteLength(text) > DOCUMENT_MAX) throw new Error('Too large a document.');
  }
  const long = Object.values(args).find(
    (value) => Array.isArray(value) && value.length > ARRAY_MAX,
  );
  if (long) throw new Error('Too long an array.');
  return args;
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** Serves a deployment on the loopback. */
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
