import { describe } from 'vitest';
import { openRedis } from '../redis/open.ts';
import { coordinationSuite } from './coordination-suite.ts';
import { eventLogSuite } from './event-log-suite.ts';
import type { Extent } from './subject.ts';

/** Where two servers find the Redis of a suite, and a place of its own there. */
interface Place {
  urls: readonly [string, string];
  prefix: string;
}

/** The suites of all that Redis does, for one of whatever kind. */
export function redisSuites(kind: string, newPlace: () => Place, extent: Extent = 'whole'): void {
  describe(`${kind} event log`, () => {
    eventLogSuite(async () => {
      const { urls, prefix } = newPlace();
      const open = async () => openRedis({ url: urls[0], prefix });
      let redis = await open();
      return {
        subject: redis.log,
        reopen: async () => {
          await redis.close();
          redis = await open();
          return redis.log;
        },
        teardown: async () => redis.close(),
      };
    }, extent);
  });

  describe(`${kind} coordination`, () => {
    coordinationSuite(async () => {
      const { urls, prefix } = newPlace();
      const [one, two] = [
        await openRedis({ url: urls[0], prefix }),
        await openRedis({ url: urls[1], prefix }),
      ];
      return {
        subject: { one, two },
        teardown: async () => {
          await one.close();
          await two.close();
        },
      };
    });
  });
}
