import type { StreamEvent } from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EventLog } from '../event-log.ts';
import { collect, delta, done, envelopeOf, eventsOf, start, wholeRun } from './runs.ts';
import type { Extent, Setup, SubjectUnderTest } from './subject.ts';
import { followSuite } from './follow-suite.ts';
import { eventLogProperties } from './event-log-properties.ts';

/** Tests the contract of every EventLog. */
export function eventLogSuite(setup: Setup<EventLog>, extent: Extent = 'whole'): void {
  let log: EventLog;
  let under: SubjectUnderTest<EventLog>;
  beforeEach(async () => {
    under = await setup();
    log = under.subject;
  });
  afterEach(() => under.teardown());

  /** The log after a restart, if the driver survives one. */
  async function reopened(): Promise<EventLog> {
    log = (await under.reopen?.()) ?? log;
    return log;
  }

  describe('append and read', () => {
    test('returns exactly the appended events, in order, also after a restart', async () => {
      const events = wholeRun('run-1', ['Hello', ' ', 'world']);
      await log.append('run-1', events.slice(0, 2));
      await log.append('run-1', events.slice(2));
      expect(await log.read('run-1')).toStrictEqual(events);
      expect(await (await reopened()).read('run-1')).toStrictEqual(events);
    });

    test('keeps runs separate', async () => {
      const [one, two] = [wholeRun('run-1', ['a']), wholeRun('run-2', ['b', 'c'])];
      await log.append('run-1', one.slice(0, 1));
      await log.append('run-2', two);
      await log.append('run-1', one.slice(1));
      expect(await log.read('run-1')).toStrictEqual(one);
      expect(await log.read('run-2')).toStrictEqual(two);
    });

    test.each([
      { after: -1, limit: 2, seqs: [0, 1] },
      { after: 1, limit: undefined, seqs: [2, 3, 4] },
      { after: 1, limit: 2, seqs: [2, 3] },
      { after: 3, limit: 10, seqs: [4] },
      { after: 4, limit: 10, seqs: [] },
      { after: 400, limit: undefined, seqs: [] },
      { after: undefined, limit: 0, seqs: [] },
    ])('reads after $after at most $limit: $seqs', async ({ after, limit, seqs }) => {
      await log.append('run-1', wholeRun('run-1', ['a', 'b', 'c']));
      const options = {
        ...(after === undefined ? {} : { after }),
        ...(limit === undefined ? {} : { limit }),
      };
      expect((await log.read('run-1', options)).map(({ seq }) => seq)).toEqual(seqs);
    });

    test('an unknown run has no events', async () => {
      expect(await log.read('nobody')).toEqual([]);
    });

    test('an empty append does nothing: it does not even register the run', async () => {
      await log.append('run-1', []);
      expect(await log.unsettled()).toEqual([]);
      await log.append('run-1', wholeRun('run-1', []));
      await expect(log.append('run-1', [])).resolves.toBeUndefined();
    });

    test('keeps text of any script, control characters and lone surrogates', async () => {
      const texts = ['Grüße 你好 🧵', '\u0000\u0001\u2028"\\', '\uD800', '\uDC00x', ''];
      const events = wholeRun('run-1', texts);
      await log.append('run-1', events);
      expect(await (await reopened()).read('run-1')).toStrictEqual(events);
    });

    test('keeps a large payload and a long run', async () => {
      const events = wholeRun('run-1', ['x'.repeat(3_000_000), ...Array(2_000).fill('y')]);
      await log.append('run-1', events);
      expect(await log.read('run-1')).toStrictEqual(events);
    });

    test('keeps nested and optional parts of a payload', async () => {
      const error = { code: 'X', message: 'm', details: { nested: [1, null, { deep: true }] } };
      const events = eventsOf('run-1', [start, { type: 'response_error', error }]);
      await log.append('run-1', events);
      expect(await log.read('run-1')).toStrictEqual(events);
    });

    test('a later change of the caller’s events does not change the stored events', async () => {
      const events = eventsOf('run-1', [start, delta('kept')]);
      await log.append('run-1', events);
      (events[1]!.payload as { deltaContent: string }).deltaContent = 'changed';
      const [, first] = await log.read('run-1');
      expect(first).toStrictEqual(eventsOf('run-1', [start, delta('kept')])[1]);
    });
  });

  describe('one writer, one end', () => {
    const wrongSeqs: [string, (run: StreamEvent[]) => StreamEvent[]][] = [
      ['a gap', (run) => run.slice(2)],
      ['a duplicate', (run) => run.slice(0, 2)],
      ['a gap within the batch', (run) => [run[1]!, run[3]!]],
      ['a repetition within the batch', (run) => [run[1]!, run[1]!]],
      ['a batch in reverse', (run) => [run[2]!, run[1]!]],
    ];
    test.each(wrongSeqs)('INV-1: refuses %s and stores none of it', async (_, pick) => {
      const run = wholeRun('run-1', ['a', 'b', 'c']);
      await log.append('run-1', run.slice(0, 1));
      await expect(log.append('run-1', pick(run))).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
      expect(await log.read('run-1')).toStrictEqual(run.slice(0, 1));
      await log.append('run-1', run.slice(1));
      expect(await (await reopened()).read('run-1')).toStrictEqual(run);
    });

    test('INV-1: a run starts at seq 0, and a refused start registers nothing', async () => {
      const append = log.append('run-1', eventsOf('run-1', [delta('a')], 1));
      await expect(append).rejects.toMatchObject({ code: 'SEQ_CONFLICT' });
      expect(await log.unsettled()).toEqual([]);
    });

    test('INV-1: continues the numbers of a run’s events after a restart', async () => {
      const run = wholeRun('run-1', ['a']);
      await log.append('run-1', run.slice(0, 1));
      const again = await reopened();
      await expect(again.append('run-1', run.slice(0, 1))).rejects.toMatchObject({
        code: 'SEQ_CONFLICT',
      });
      await again.append('run-1', run.slice(1));
      expect(await again.read('run-1')).toStrictEqual(run);
    });

    test('INV-2: nothing follows the terminal event, also after a restart', async () => {
      const run = wholeRun('run-1', ['a']);
      await log.append('run-1', run);
      const more = eventsOf('run-1', [delta('late')], run.length);
      await expect(log.append('run-1', more)).rejects.toMatchObject({ code: 'RUN_ENDED' });
      await expect((await reopened()).append('run-1', more)).rejects.toMatchObject({
        code: 'RUN_ENDED',
      });
    });

    test('INV-2: a batch with events after its terminal event is refused as a whole', async () => {
      const append = log.append('run-1', eventsOf('run-1', [start, done, delta('late')]));
      await expect(append).rejects.toMatchObject({ code: 'RUN_ENDED' });
      expect(await log.read('run-1')).toEqual([]);
    });

    test('refuses an event of another run', async () => {
      const [first, second] = eventsOf('run-1', [start, delta('a')]);
      await log.append('run-1', [first!]);
      const foreign = [
        { ...second!, runId: 'run-2' },
        { ...second!, sessionId: 'another' },
        { ...second!, turnId: 'another' },
        { ...second!, eventId: 'another' },
        { ...second!, traceContext: { traceparent: 'another' } },
      ];
      for (const event of foreign) {
        await expect(log.append('run-1', [event])).rejects.toMatchObject({
          code: 'ENVELOPE_MISMATCH',
        });
      }
      expect(await log.read('run-1')).toStrictEqual([first]);
    });

    test('if a batch cannot be written, none of its events is stored, and the run continues', async () => {
      const details = 1n;
      const error = { code: 'X', message: 'm', details };
      const bad = eventsOf('run-1', [start, { type: 'item_error', itemId: 'i', error }]);
      await expect(log.append('run-1', bad)).rejects.toMatchObject({ code: 'LOG_WRITE_FAILED' });
      expect(await log.unsettled()).toEqual([]);
      await log.append('run-1', wholeRun('run-1', ['a']));
      expect(await log.read('run-1')).toStrictEqual(wholeRun('run-1', ['a']));
    });
  });

  describe('unsettled runs', () => {
    test('are listed oldest first, with their last seq, until they are settled', async () => {
      await log.append('run-b', eventsOf('run-b', [start, delta('x')]));
      await log.append('run-a', wholeRun('run-a', []));
      await log.append('run-c', eventsOf('run-c', [start]));
      await log.settle('run-b');
      await log.append('run-c', eventsOf('run-c', [delta('y')], 1));
      const listed = [
        { ...envelopeOf('run-a'), turnId: 'run-a', lastSeq: 1, ended: true },
        { ...envelopeOf('run-c'), turnId: 'run-c', lastSeq: 1, ended: false },
      ];
      expect(await log.unsettled()).toStrictEqual(listed);
      expect(await (await reopened()).unsettled()).toStrictEqual(listed);
    });

    test('a settled run has no events, and settling this run again, or an unknown run, does nothing', async () => {
      await log.append('run-1', wholeRun('run-1', ['a']));
      await log.settle('run-1');
      await log.settle('run-1');
      await log.settle('nobody');
      expect(await log.read('run-1')).toEqual([]);
      expect(await (await reopened()).read('run-1')).toEqual([]);
    });

    test('INV-2: a settled run accepts no more events, not even from the start, and not even if it was open when it was settled', async () => {
      await log.append('open', eventsOf('open', [start]));
      await log.append('ended', wholeRun('ended', ['a']));
      await log.settle('open');
      await log.settle('ended');
      for (const open of [() => log, reopened]) {
        const again = await open();
        const tries = [
          again.append('open', eventsOf('open', [delta('late')], 1)),
          again.append('open', eventsOf('open', [start])),
          again.append('ended', eventsOf('ended', [start])),
        ];
        const refused = {
          status: 'rejected',
          reason: expect.objectContaining({ code: 'RUN_ENDED' }),
        };
        expect(await Promise.allSettled(tries)).toEqual([refused, refused, refused]);
      }
    });
  });

  followSuite(() => log, reopened);
  eventLogProperties(setup, extent);

  test('a follower of a settled run ends at once, also after a restart', async () => {
    await log.append('run-1', wholeRun('run-1', ['a']));
    await log.settle('run-1');
    expect(await collect(log.follow('run-1'))).toEqual([]);
    expect(await collect((await reopened()).follow('run-1'))).toEqual([]);
  });
}
