import { type ServerMessage, takenBack, type TurnEvent } from '@liminal/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyMessage } from './apply-message.ts';
import { applyOlderPage } from './history.ts';
import { head, history, sessionId } from './testing/items.ts';
import { emptyView, type SessionView } from './view.ts';

interface Turn {
  turnId: string;
  rewoundTo?: string;
}

const done = { status: 'complete', endedAt: 1 } as const;
const heads = (turns: readonly Turn[]) =>
  turns.map(({ turnId, ...rest }) => ({ ...head(turnId), ...done, ...rest }));

/** Returns the messages about a turn that live readers receive. */
function live({ turnId, rewoundTo }: Turn): ServerMessage[] {
  const of = { turnId, sessionId };
  const end = {
    ...of,
    status: 'completed',
    ...(rewoundTo !== undefined && { rewoundTo }),
  } as const;
  const events: TurnEvent[] = [
    { type: 'turn_started', ...of, modelId: 'm', providerId: 'p' },
    { type: 'turn_complete', ...end },
  ];
  return events.map((payload) => ({ type: 'session:turn', sessionId, payload, cursor: 'c' }));
}

const gone = (view: SessionView) => Object.fromEntries(takenBack(view.turns));
const reopened = (turns: readonly Turn[]) =>
  applyMessage(emptyView(sessionId), history('snapshot', heads(turns), []), 0);

test('readers see the same turns as taken back, whether they follow live, subscribe late, reopen the session or read page by page', () => {
  const steps = fc.array(fc.option(fc.nat(5), { nil: undefined }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(steps, fc.nat(12), (back, cut) => {
      const turns: Turn[] = [];
      for (const [place, by] of back.entries()) {
        const without = takenBack(turns);
        const known = turns.filter((one) => !without.has(one.turnId) && !one.rewoundTo);
        const to = by === undefined ? undefined : known.at(-1 - by)?.turnId;
        turns.push({ turnId: `t${place}`, ...(to !== undefined && { rewoundTo: to }) });
      }
      const expected = gone(reopened(turns));
      const [older, newer] = [turns.slice(0, cut), turns.slice(cut)];
      const watched = newer
        .flatMap(live)
        .reduce((view, message) => applyMessage(view, message, 0), reopened(older));
      expect(gone(watched)).toEqual(expected);
      const more = { hasMore: true, before: 'mark' };
      const newest = applyMessage(
        emptyView(sessionId),
        history('snapshot', heads(newer), [], more),
        0,
      );
      const page = { entries: [], turns: heads(older), cursor: 'c', hasMore: false };
      expect(gone(applyOlderPage(newest, page, 'mark'))).toEqual(expected);
    }),
  );
});
