import { convexTest } from 'convex-test';
import { describe } from 'vitest';
import schema from '../convex/schema.ts';
import type { ConvexCaller } from '../src/convex/deployment.ts';
import { openStore } from '../src/convex/open.ts';
import { responseStoreSuite, searchSuite } from '../src/testing/index.ts';

const secret = 'a-secret-of-the-tests';
process.env['LIMINAL_SECRET'] = secret;

/** The functions as Convex finds them. What its generator would write is not needed, but its folder marks the place. */
const modules = {
  ...import.meta.glob('../convex/*.ts'),
  '../convex/_generated/api.ts': async () => ({}),
};

/** A deployment in memory that runs the real functions within Convex's real limits. */
function deploy() {
  const backend = convexTest({ schema, modules, transactionLimits: true });
  const caller: ConvexCaller = {
    query: async (query, args) => backend.query(query, args),
    mutation: async (mutation, args) => backend.mutation(mutation, args),
  };
  return { backend, caller };
}

async function setup() {
  const { backend, caller } = deploy();
  return {
    subject: await openStore(caller, secret),
    reopen: async () => openStore(caller, secret),
    teardown: async () => backend.finishInProgressScheduledFunctions(),
  };
}

describe('convex response store', () => {
  responseStoreSuite(setup);
});

describe('convex search', () => {
  searchSuite(setup);
});
