import { v } from 'convex/values';
import { assertSecret, query } from './server.ts';

/** The version of these functions and their tables; a server that needs another version refuses to use them. */
export const functionsVersion = 7;

export const get = query({
  args: { secret: v.string() },
  returns: v.number(),
  handler: async (_, { secret }) => {
    assertSecret(secret);
    return functionsVersion;
  },
});
