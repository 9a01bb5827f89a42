import {
  closeOpenItems,
  emptyResponse,
  type EventPayload,
  foldResponse,
  foldUpsert,
  responseToUpserts,
  type ServerMessage,
  startUpsertFold,
  type StreamEvent,
  summarizeTurn,
  toResponse,
} from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { describe, expect, it } from 'vitest';
import { applyMessage } from './apply-message.ts';
import { continuationNote, type JoinedTurn, joinTurns } from './join-turns.ts';
import { history, sessionId } from './testing/items.ts';
import { emptyView, type TurnView } from './view.ts';

const options = [{ optionId: 'allow', name: 'Allow', kind: 'allow_once' as const }];

const begins = (trigger: 'user' | 'agent'): EventPayload => ({
  type: 'response_start',
  modelId: 'm',
  providerId: 'p',
  trigger,
});
const says = (id: string, content: string): EventPayload[] => [
  { type: 'item_start', itemId: id, itemType: 'message', origin: 'agent' },
  { type: 'item_done', itemId: id, finalItem: { type: 'message', id, content, origin: 'agent' } },
];
/** Returns the events of a model's call. A later turn that repeats the call gives it another id. */
function calls(turnId: string, callId: string): EventPayload[] {
  const call = { name: 'bash', callId, arguments: '{}' };
  const id = `${turnId}:${callId}`;
  return [{ type: 'item_start', itemId: id, itemType: 'function_call', ...call }];
}
const question = (callId: string) => {
  const approvalId = `asks ${callId}`;
  return { approvalId, callId, title: `Run ${callId}?`, options };
};
function asks(turnId: string, callId: string): EventPayload[] {
  const itemId = `${turnId}:approval:asks ${callId}`;
  return [{ type: 'item_start', itemId, itemType: 'approval', ...question(callId) }];
}
/** Returns the events with the beginning of a call's output. */
function prints(turnId: string, callId: string, text: string): EventPayload[] {
  const itemId = `${turnId}:${callId}:out`;
  return [
    { type: 'item_start', itemId, itemType: 'function_call_output', callId },
    { type: 'item_delta', itemId, deltaContent: text },
  ];
}
function gives(turnId: string, callId: string, output: string): EventPayload[] {
  const id = `${turnId}:${callId}`;
  const call = { type: 'function_call', id, callId, name: 'bash', arguments: '{}' } as const;
  const given = { type: 'function_call_output', callId, output, success: true } as const;
  return [
    { type: 'item_done', itemId: id, finalItem: { ...call, origin: 'agent' } },
    {
      type: 'item_done',
      itemId: `${id}:out`,
      finalItem: { ...given, id: `${id}:out`, origin: 'tool_harness' },
    },
  ];
}
const done: EventPayload = { type: 'response_done', status: 'completed' };

/**
 * Returns the events of a run with these payloads. If the payloads contain no terminal event, the run is cut off
 * because its server ends.
 */
function run(turnId: string, payloads: readonly EventPayload[], code = 'OWNER_LOST') {
  const of = { turnId, runId: turnId, sessionId };
  const events = runOf(payloads, of);
  const last = payloads.at(-1)?.type;
  if (last === 'response_done') return events;
  const state = events.reduce(foldResponse, emptyResponse());
  const error = { code, message: 'The server stopped.' };
  const closing = closeOpenItems(state, { status: 'error', error });
  return runOf([...payloads, ...closing, { type: 'response_error', error }], of);
}

/** Returns the turns that a reader sees who is subscribed during the runs. */
function live(runs: readonly StreamEvent[][]): readonly TurnView[] {
  const messages = runs.flatMap((events) => {
    let state = startUpsertFold();
    return events.flatMap((event) => {
      const step = foldUpsert(state, event, Date.parse(event.timestamp));
      ({ state } = step);
      return step.outputs.map((output): ServerMessage => {
        if (output.kind === 'turn')
          return { type: 'session:turn', sessionId, payload: output.event, cursor: 'c' };
        if (output.kind === 'upsert')
          return { type: 'session:upsert', sessionId, payload: output.upsert, cursor: 'c' };
        const { kind: _, ...where } = output;
        const type = output.kind === 'append' ? 'session:append' : 'session:discard';
        return { type, sessionId, ...where, cursor: 'c' } as ServerMessage;
      });
    });
  });
  return messages.reduce((view, one) => applyMessage(view, one, 0), emptyView(sessionId)).turns;
}

/** Returns the turns that a reader sees who loads the runs afterwards. */
function stored(runs: readonly StreamEvent[][]): readonly TurnView[] {
  const responses = runs.flatMap(
    (events) => toResponse(events.reduce(foldResponse, emptyResponse())) ?? [],
  );
  const entries = responses.flatMap((response) => responseToUpserts(response, ''));
  const page = history('snapshot', responses.map(summarizeTurn), entries);
  return applyMessage(emptyView(sessionId), page, 0).turns;
}

/** Returns a turn in the form that people see: its items, and the sentence at its end. */
const picture = (turn: JoinedTurn) => ({
  items: turn.items.map((item) => item.itemId),
  ...(turn.continuedBy !== undefined && { in: turn.continuedBy, ends: continuationNote(turn) }),
  ...(turn.continuationOf !== undefined && { from: turn.continuationOf }),
});
const line = 'The server stopped here; the turn continues below.';

describe.each([
  ['live', live],
  ['in history', stored],
])('%s', (_, read) => {
  const pictures = (...runs: StreamEvent[][]) => joinTurns(read(runs)).map(picture);

  it('a turn that is continued keeps its text and results, but not the items that the next turn repeats', () => {
    const cut = run('t1', [
      begins('user'),
      ...says('said', 'I look, and then I run it.'),
      ...calls('t1', 'read'),
      ...calls('t1', 'quiet'),
      ...calls('t1', 'loud'),
      ...asks('t1', 'loud'),
      ...gives('t1', 'read', 'a.ts'),
    ]);
    const next = [begins('agent'), ...calls('t2', 'loud'), ...asks('t2', 'loud')];
    expect(pictures(cut, runOf(next, { turnId: 't2', runId: 't2', sessionId }))).toEqual([
      { items: ['said', 't1:read', 't1:quiet'], in: 't2', ends: line },
      { items: ['t2:loud', 't2:approval:asks loud'], from: 't1' },
    ]);
  });

  it('a continuation is recognised when it makes its first call, even if it repeats no question', () => {
    const cut = run('t1', [begins('user'), ...calls('t1', 'a'), ...asks('t1', 'a')]);
    const next = run('t2', [
      begins('agent'),
      ...calls('t2', 'a'),
      ...gives('t2', 'a', 'ok'),
      ...says('end', 'Done.'),
      done,
    ]);
    expect(pictures(cut, next)).toEqual([
      { items: [], in: 't2', ends: line },
      { items: ['t2:a', 'end'], from: 't1' },
    ]);
  });

  it('if a turn is cut off twice, the sentence about the cut is shown once', () => {
    const asking = (turnId: string, trigger: 'user' | 'agent') =>
      run(turnId, [begins(trigger), ...calls(turnId, 'a'), ...asks(turnId, 'a')]);
    expect(pictures(asking('t1', 'user'), asking('t2', 'agent'), asking('t3', 'agent'))).toEqual([
      { items: [], in: 't2', ends: line },
      { items: [], in: 't3', ends: undefined, from: 't1' },
      { items: ['t3:a', 't3:approval:asks a'], from: 't2' },
    ]);
  });

  it('of two questions, only the question that is not repeated stays in the old turn', () => {
    const cut = run('t1', [
      begins('user'),
      ...calls('t1', 'script'),
      ...asks('t1', 'inner'),
      ...calls('t1', 'a'),
      ...asks('t1', 'a'),
    ]);
    const next = run('t2', [begins('agent'), ...calls('t2', 'a'), done]);
    expect(pictures(cut, next)[0]?.items).toEqual(['t1:script', 't1:approval:asks inner']);
  });

  it('the output of a call stays in the old turn even if the call is repeated', () => {
    const cut = run('t1', [
      begins('user'),
      ...calls('t1', 'a'),
      ...prints('t1', 'a', 'half'),
      ...asks('t1', 'a'),
    ]);
    const next = run('t2', [begins('agent'), ...calls('t2', 'a'), done]);
    expect(pictures(cut, next)[0]).toEqual({ items: ['t1:a:out'], in: 't2', ends: line });
  });

  describe('a script', () => {
    const itself = (turnId: string) => `${turnId}:s:script`;
    const runs = (turnId: string): EventPayload[] => [
      ...calls(turnId, 's'),
      {
        type: 'script_execution_start',
        itemId: itself(turnId),
        code: '1',
        parentCallId: 's',
      },
    ];
    /**
     * Returns events with which a script's call begins, prints and ends. A script's calls have ids of their own; a
     * later turn that repeats the calls gives them other ids.
     */
    const within = (turnId: string, place: number) => {
      const id = `${itself(turnId)}:${place}`;
      const of = { callId: id, parentCallId: itself(turnId) };
      const item = { id, ...of, type: 'function_call', name: 'bash', arguments: '{}' } as const;
      const given = { ...of, id: `${id}:out`, type: 'function_call_output' } as const;
      return {
        begins: [
          { type: 'item_start', itemId: id, itemType: 'function_call', name: 'bash', ...of },
          { type: 'item_done', itemId: id, finalItem: { ...item, origin: 'agent' } },
        ] satisfies EventPayload[],
        prints: [
          { type: 'item_start', itemId: given.id, itemType: 'function_call_output', ...of },
          { type: 'item_delta', itemId: given.id, deltaContent: 'half' },
        ] satisfies EventPayload[],
        gives: (output: string): EventPayload[] => {
          const finalItem = { ...given, output, success: true, origin: 'tool_harness' } as const;
          return [{ type: 'item_done', itemId: given.id, finalItem }];
        },
      };
    };
    const asksIn = (turnId: string, place: number): EventPayload => {
      const question = {
        approvalId: 'q',
        callId: `${itself(turnId)}:${place}`,
        title: '?',
        options,
      };
      const itemId = `${turnId}:approval:q`;
      return { type: 'item_start', itemId, itemType: 'approval', ...question };
    };
    const cut = run('t1', [
      begins('user'),
      ...says('said', 'I look.'),
      ...calls('t1', 'read'),
      ...gives('t1', 'read', 'a.ts'),
      ...runs('t1'),
      ...within('t1', 1).begins,
      ...within('t1', 1).gives('a'),
      ...within('t1', 2).begins,
      asksIn('t1', 2),
      ...within('t1', 3).begins,
    ]);
    const again = [
      begins('agent'),
      ...runs('t2'),
      ...within('t2', 1).begins,
      ...within('t2', 1).gives('a'),
      ...within('t2', 2).begins,
    ];
    const all = (turnId: string): string[] => [
      `${turnId}:s`,
      itself(turnId),
      `${itself(turnId)}:1`,
      `${itself(turnId)}:2`,
    ];
    const before = { items: ['said', 't1:read'], in: 't2', ends: line };

    it('a script that is continued is shown once, with all its items, as soon as its call is repeated', () => {
      const lengths = again.map((_, index) => index + 1);
      for (const length of lengths.filter((one) => one > 2)) {
        const next = runOf(again.slice(0, length), { turnId: 't2', runId: 't2', sessionId });
        expect(pictures(cut, next)[0]).toEqual(before);
      }
      const next = [...again, asksIn('t2', 2)];
      expect(pictures(cut, runOf(next, { turnId: 't2', runId: 't2', sessionId }))).toEqual([
        before,
        { items: [...all('t2'), 't2:approval:q'], from: 't1' },
      ]);
    });

    it('a script that no longer needs a permission is also shown once', () => {
      const next = run('t2', [
        ...again,
        ...within('t2', 2).gives('b'),
        ...gives('t2', 's', '1'),
        done,
      ]);
      expect(pictures(cut, next)[0]).toEqual(before);
    });

    it('a script that is not repeated stays completely in the old turn', () => {
      const next = run('t2', [begins('agent'), ...calls('t2', 'other'), done]);
      expect(pictures(cut, next)[0]?.items).toEqual([
        'said',
        't1:read',
        ...all('t1'),
        't1:approval:q',
        `${itself('t1')}:3`,
      ]);
    });

    it('the output of a script’s cut-off calls stays in the old turn', () => {
      const printed = run('t1', [
        begins('user'),
        ...runs('t1'),
        ...within('t1', 1).begins,
        ...within('t1', 1).prints,
        ...within('t1', 2).begins,
        asksIn('t1', 2),
      ]);
      const next = run('t2', [...again, done]);
      expect(pictures(printed, next)[0]).toMatchObject({ items: [`${itself('t1')}:1`], in: 't2' });
    });
  });

  const asking = [begins('user'), ...calls('t1', 'a'), ...asks('t1', 'a')];
  const again = [...calls('t2', 'a'), ...asks('t2', 'a'), done];
  it.each([
    ['no turn follows', [run('t1', asking)]],
    ['a person began the next turn', [run('t1', asking), run('t2', [begins('user'), ...again])]],
    [
      'the next turn asks another question',
      [run('t1', asking), run('t2', [begins('agent'), ...calls('t2', 'b'), done])],
    ],
    [
      'another turn is in between',
      [
        run('t1', asking),
        run('t', [begins('user'), ...says('hi', 'Hi.'), done]),
        run('t2', [begins('agent'), ...again]),
      ],
    ],
    [
      'the turn failed for another reason',
      [run('t1', asking, 'MODEL_ERROR'), run('t2', [begins('agent'), ...again])],
    ],
    [
      'the turn asked nothing',
      [run('t1', asking.slice(0, 2)), run('t2', [begins('agent'), ...again])],
    ],
  ])('turns are not joined if %s', (_case, runs) => {
    const turns = read(runs);
    expect(joinTurns(turns)).toEqual(turns);
  });

  it('a turn of the server may be between the two turns that are joined', () => {
    const told = { type: 'message', id: 'n', content: 'A task ended.', origin: 'system' } as const;
    const between = run('t', [
      begins('agent'),
      { type: 'item_done', itemId: 'n', finalItem: told },
      { type: 'response_done', status: 'completed', finishReason: 'tasks_ended' },
    ]);
    const runs = [run('t1', asking), between, run('t2', [begins('agent'), ...again])];
    expect(pictures(...runs).map(({ in: next }) => next)).toEqual(['t2', undefined, undefined]);
  });
});

it('unchanged turns stay the same objects while the newest turn changes', () => {
  const cut = run('t1', [begins('user'), ...calls('t1', 'a'), ...asks('t1', 'a')]);
  const next = [begins('agent'), ...calls('t2', 'a'), ...asks('t2', 'a')];
  const before = live([cut, runOf(next, { turnId: 't2', runId: 't2', sessionId })]);
  const later = before.with(1, { ...before[1]!, usage: { inputTokens: 1, outputTokens: 1 } });
  const [one, two] = [joinTurns(before), joinTurns(later)];
  expect(two[0]).toBe(one[0]);
  expect(two[1]).not.toBe(one[1]);
  expect(joinTurns(later)[1]).toBe(two[1]);
});
