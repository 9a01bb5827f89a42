import { describe, expect, test } from 'vitest';
import type { TwoServers } from './subject.ts';
import { delta, done, eventsOf, start } from './runs.ts';

/** Tests the contract for two servers that write to the same run, after the second server has taken the run over. */
export function writersSuite(servers: () => TwoServers): void {
  describe('a run that another server writes to', () => {
    /**
     * A run that the first server began. That server has written enough events to know the next seq without asking
     * Redis.
     */
    const begun = async () => {
      const { one, two } = servers();
      for (const event of eventsOf('run-1', [start, delta('a'), delta('b')]))
        await one.log.append('run-1', [event]);
      return { old: one.log, next: two.log };
    };
    const mine = eventsOf('run-1', [delta('mine')], 3);

    test('INV-1: refuses events of its former writer, one event or several', async () => {
      const { old, next } = await begun();
      const theirs = eventsOf('run-1', [delta('theirs')], 3);
      await next.append('run-1', theirs);
      await expect(old.append('run-1', mine)).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
      await expect(old.append('run-1', mine)).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
      const several = eventsOf('run-1', [delta('mine'), done], 3);
      await expect(old.append('run-1', several)).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
      expect((await next.read('run-1')).slice(3)).toStrictEqual(theirs);
    });

    test('INV-2: refuses events of its former writer after the new writer has ended it', async () => {
      const { old, next } = await begun();
      await next.append('run-1', eventsOf('run-1', [done], 3));
      await expect(old.append('run-1', mine)).rejects.toMatchObject({ code: 'RUN_ENDED' });
      expect(await old.read('run-1')).toHaveLength(4);
    });

    test('INV-2: refuses events of its former writer after the new writer has settled it', async () => {
      const { old, next } = await begun();
      await next.settle('run-1');
      await expect(old.append('run-1', mine)).rejects.toMatchObject({ code: 'RUN_ENDED' });
      expect(await old.unsettled()).toEqual([]);
    });
  });
}
