import { stampEvent, type StreamEvent } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenedDatabase } from '../storage.ts';
import { sessionRecord } from './records.ts';
import type { Setup, SubjectUnderTest } from './subject.ts';

/** Some of a run's events, whose texts are hard to store. */
function eventsOf(runId: string, from: number, to: number, sessionId = 'session-1'): StreamEvent[] {
  const traceContext = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
  return Array.from({ length: to - from }, (_, index) =>
    stampEvent(
      {
        turnId: runId,
        timestamp: '2026-01-01T00:00:00.000Z',
        payload: { type: 'item_delta', itemId: 'a', deltaContent: `\u0000\ud83d ${from + index}` },
      },
      { sessionId, runId, traceContext },
      from + index,
    ),
  );
}

/** Tests the contract of every EventArchive. */
export function eventArchiveSuite(setup: Setup<OpenedDatabase>): void {
  let database: OpenedDatabase;
  let under: SubjectUnderTest<OpenedDatabase>;
  const archive = () => {
    if (!database.eventArchive) throw new Error('The driver has no archive.');
    return database.eventArchive;
  };
  beforeEach(async () => {
    under = await setup();
    database = under.subject;
  });
  afterEach(() => under.teardown());

  describe('kept events', () => {
    test('are returned unchanged, in order, by run, also after a restart', async () => {
      const [one, two] = [eventsOf('run-1', 0, 2_500), eventsOf('run-2', 0, 3)];
      await archive().store('run-1', one.slice(0, 1_200));
      await archive().store('run-2', two);
      await archive().store('run-1', one.slice(1_200));
      await archive().store('run-1', []);
      expect(await archive().read('run-1')).toEqual(one);
      database = (await under.reopen?.()) ?? database;
      expect(await archive().read('run-1')).toEqual(one);
      expect(await archive().read('run-2')).toEqual(two);
      expect(await archive().read('nobody')).toEqual([]);
    });

    test('are stored once, however often and in whatever pieces they are given', async () => {
      const all = eventsOf('run-1', 0, 30);
      await archive().store('run-1', all.slice(0, 20));
      await archive().store('run-1', all.slice(0, 5));
      await archive().store('run-1', all.slice(10, 25));
      await archive().store('run-1', all.slice(20));
      await Promise.all([archive().store('run-1', all), archive().store('run-1', all)]);
      expect(await archive().read('run-1')).toEqual(all);
    });

    test('of a deleted session are deleted, and no more are stored; events of other sessions stay', async () => {
      await database.store.saveSession(sessionRecord('session-1'));
      await archive().store('run-1', eventsOf('run-1', 0, 3));
      await archive().store('run-2', eventsOf('run-2', 0, 3, 'session-2'));
      await database.store.deleteSession('session-1');
      expect(await archive().read('run-1')).toEqual([]);
      await archive().store('run-1', eventsOf('run-1', 3, 6));
      expect(await archive().read('run-1')).toEqual([]);
      expect(await archive().read('run-2')).toHaveLength(3);
    });

    test('an event of several megabytes is stored', async () => {
      const [event] = eventsOf('run-1', 0, 1);
      if (event?.payload.type !== 'item_delta') throw new Error('no delta');
      event.payload.deltaContent = 'long '.repeat(600_000);
      await archive().store('run-1', [event]);
      expect(await archive().read('run-1')).toEqual([event]);
    });
  });
}
