import type { StreamEvent } from '@liminal/protocol';
import { describe, expect, test } from 'vitest';
import type { EventLog } from '../event-log.ts';
import { collect, delta, done, eventsOf, start, wholeRun } from './runs.ts';

/** Tests the contract of every EventLog for followers of a run. */
export function followSuite(logOf: () => EventLog, reopened: () => Promise<EventLog>): void {
  describe('follow', () => {
    test('yields past events and ends after the terminal event', async () => {
      const run = wholeRun('run-1', ['a', 'b']);
      await logOf().append('run-1', run);
      expect(await collect(logOf().follow('run-1'))).toStrictEqual(run);
      expect(await collect((await reopened()).follow('run-1'))).toStrictEqual(run);
    });

    test('INV-6: yields past events, and then live events, without a gap or a duplicate', async () => {
      const log = logOf();
      const run = wholeRun('run-1', ['a', 'b', 'c']);
      await log.append('run-1', run.slice(0, 2));
      const seen: StreamEvent[] = [];
      for await (const event of log.follow('run-1')) {
        seen.push(event);
        // When an event is yielded, the log can already return it. Each event except the last triggers the next append.
        expect(await log.read('run-1', { after: event.seq - 1, limit: 1 })).toStrictEqual([event]);
        const next = run[event.seq + 1];
        if (event.seq >= 1 && next) await log.append('run-1', [next]);
      }
      expect(seen).toStrictEqual(run);
    });

    test('a waiting follower is woken by each append', async () => {
      const log = logOf();
      const run = wholeRun('run-1', ['a']);
      const followed = log.follow('run-1')[Symbol.asyncIterator]();
      for (const event of run) {
        const next = followed.next();
        await log.append('run-1', [event]);
        expect(await next).toStrictEqual({ done: false, value: event });
      }
      expect(await followed.next()).toEqual({ done: true, value: undefined });
    });

    test('starts after the given seq, even if events with this seq do not exist yet', async () => {
      const log = logOf();
      const run = wholeRun('run-1', ['a', 'b']);
      await log.append('run-1', run.slice(0, 2));
      const [middle, ahead, beyond] = [0, 2, 99].map((after) =>
        collect(log.follow('run-1', { after })),
      );
      await log.append('run-1', run.slice(2));
      expect(await middle).toStrictEqual(run.slice(1));
      expect(await ahead).toStrictEqual(run.slice(3));
      expect(await beyond).toEqual([]);
      expect(await collect(log.follow('run-1', { after: run.length - 1 }))).toEqual([]);
    });

    test('waits for a run that has not begun', async () => {
      const followed = collect(logOf().follow('run-1'));
      await logOf().append('run-1', wholeRun('run-1', ['a']));
      expect(await followed).toStrictEqual(wholeRun('run-1', ['a']));
    });

    test('FR-001-06: many followers with different speeds get the same events', async () => {
      const log = logOf();
      const run = wholeRun('run-1', Array(400).fill('text'));
      const followers = [0, 1, 2].map(() => collect(log.follow('run-1')));
      const slow = log.follow('run-1')[Symbol.asyncIterator]();
      const first = slow.next();
      for (let at = 0; at < run.length; at += 7) await log.append('run-1', run.slice(at, at + 7));
      for (const follower of followers) expect(await follower).toStrictEqual(run);
      expect((await first).value).toStrictEqual(run[0]);
      const rest = await collect({ [Symbol.asyncIterator]: () => slow });
      expect(rest).toStrictEqual(run.slice(1));
    });

    test('if a run is settled while it is followed, the follower gets the remaining events of the run', async () => {
      const log = logOf();
      const run = wholeRun('run-1', Array(300).fill('text'));
      await log.append('run-1', run.slice(0, 250));
      const followed = log.follow('run-1')[Symbol.asyncIterator]();
      const first = await followed.next();
      await log.append('run-1', run.slice(250));
      await log.settle('run-1');
      expect(await log.read('run-1')).toEqual([]);
      expect(await log.unsettled()).toEqual([]);
      expect(await collect(log.follow('run-1'))).toEqual([]);
      const rest = await collect({ [Symbol.asyncIterator]: () => followed });
      expect([first.value, ...rest]).toStrictEqual(run);
    });

    test('if an open run is settled, its follower gets the events of the run and then ends', async () => {
      const log = logOf();
      const events = eventsOf('run-1', [start, delta('a')]);
      await log.append('run-1', events);
      const followed = log.follow('run-1')[Symbol.asyncIterator]();
      const first = await followed.next();
      const rest = collect({ [Symbol.asyncIterator]: () => followed });
      await log.settle('run-1');
      expect([first.value, ...(await rest)]).toStrictEqual(events);
    });

    test('an abort ends following without an error: before following begins, between events, and while following waits', async () => {
      const log = logOf();
      await log.append('run-1', eventsOf('run-1', [start, delta('a'), delta('b')]));
      expect(await collect(log.follow('run-1', { signal: AbortSignal.abort() }))).toEqual([]);

      const between = new AbortController();
      const seen: number[] = [];
      for await (const event of log.follow('run-1', { signal: between.signal })) {
        seen.push(event.seq);
        if (event.seq === 1) between.abort();
      }
      expect(seen).toEqual([0, 1]);

      const waiting = new AbortController();
      const followed = log.follow('run-1', { after: 2, signal: waiting.signal });
      const waits = collect(followed);
      waiting.abort();
      expect(await waits).toEqual([]);
    });

    test('an aborted follower does not keep a settled run from being deleted', async () => {
      const log = logOf();
      await log.append('run-1', wholeRun('run-1', ['a']));
      const controller = new AbortController();
      const left = log.follow('run-1', { signal: controller.signal })[Symbol.asyncIterator]();
      await left.next();
      controller.abort();
      await log.settle('run-1');
      expect(await left.next()).toEqual({ done: true, value: undefined });
    });

    test('a follower may leave its loop early, and this does not end other followers', async () => {
      const log = logOf();
      const other = collect(log.follow('run-1'));
      await log.append('run-1', eventsOf('run-1', [start, delta('a')]));
      for await (const event of log.follow('run-1')) if (event.seq === 0) break;
      await log.append('run-1', eventsOf('run-1', [done], 2));
      expect(await other).toStrictEqual(eventsOf('run-1', [start, delta('a'), done]));
    });

    test('closing the log ends waiting followers', async () => {
      const log = logOf();
      const events = eventsOf('run-1', [start]);
      await log.append('run-1', events);
      const followed = log.follow('run-1')[Symbol.asyncIterator]();
      const first = await followed.next();
      const next = followed.next();
      await log.close();
      expect(first.value).toStrictEqual(events[0]);
      expect(await next).toEqual({ done: true, value: undefined });
    });
  });
}
