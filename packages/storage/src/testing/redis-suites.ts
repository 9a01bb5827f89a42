import { describe } from 'vitest';
import { openRedis } from '../redis/open.ts';
import { coordinationSuite } from './coordination-suite.ts';
import { eventLogSuite } from './event-log-suite.ts';
import type { Extent } from './subject.ts';

/** The URLs of a suite's Redis for each of two servers, and the suite's own prefix. */
interface Place {
  urls: readonly [string, string];
  prefix: string;
}

/** Runs all suites on the Redis driver, for one Redis or a cluster. */
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
