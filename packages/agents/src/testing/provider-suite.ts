/** The suite that every provider runs: the contract of `CliProvider`. Requirement ids are seed 000's. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type ContentBlock,
  emptyResponse,
  foldResponse,
  responseToUpserts,
  steeredItem,
  StreamEvent,
  toResponse,
  type UpsertObject,
} from '@liminal/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CliProvider } from '../provider.ts';
import { coded, openSession, type ProviderUnderTest } from './subject.ts';
import { expectWholeTurn, Watch } from './watch.ts';

const lifecycle = [
  'createSession',
  'sendMessage',
  'loadSession',
  'cancelTurn',
  'killSession',
  'isAlive',
  'onUpsert',
  'onTurn',
] as const;

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image: ContentBlock = { type: 'image', mimeType: 'image/png', data: pixel };
const audio: ContentBlock = { type: 'audio', mimeType: 'audio/wav', data: 'UklGRg==' };
const textFile: ContentBlock = {
  type: 'resource',
  resource: { uri: 'notes.md', name: 'notes.md', mimeType: 'text/markdown', text: '# Notes' },
};

/** Runs the suite on fresh providers made by `setup`, one per test. */
export function providerSuite(name: string, setup: () => Promise<ProviderUnderTest>): void {
  describe(`provider ${name}`, () => {
    let subject: ProviderUnderTest;
    let provider: CliProvider;
    beforeEach(async () => {
      subject = await setup();
      provider = subject.provider;
    });
    afterEach(async () => {
      await provider.close();
      await subject.teardown();
    });

    const open = () => openSession(subject);

    describe('its surface', () => {
      test.each(lifecycle)('TC-2.1a: has the lifecycle method %s', (method) => {
        expect(provider[method]).toBeTypeOf('function');
      });

      test('names and describes the agent type, and starts nothing for that', async () => {
        const info = await provider.describe();

        expect(info.cliType).toBe(provider.cliType);
        expect(info.description).not.toBe('');
        expect(info.available).toBe(true);
      });
    });

    describe('a session', () => {
      test('TC-3.4c: is alive from its creation until it is killed', async () => {
        const sessionId = randomUUID();
        expect(provider.isAlive(sessionId)).toBe(false);

        const session = await provider.createSession({
          projectDir: subject.projectDir,
          sessionId,
        });

        expect(session).toEqual({ sessionId, cliType: provider.cliType });
        expect(provider.isAlive(sessionId)).toBe(true);
        await provider.killSession(sessionId);
        expect(provider.isAlive(sessionId)).toBe(false);
      });

      test('gets an id if none is given', async () => {
        const one = await provider.createSession({ projectDir: subject.projectDir });
        const other = await provider.createSession({ projectDir: subject.projectDir });

        expect(one.sessionId).not.toBe(other.sessionId);
        expect(provider.isAlive(one.sessionId)).toBe(true);
      });

      test('TC-3.1c: is refused in a folder that is missing, and leaves nothing behind', async () => {
        const sessionId = randomUUID();
        const projectDir = join(subject.projectDir, 'missing');

        const creation = provider.createSession({ projectDir, sessionId });

        await expect(creation).rejects.toMatchObject(coded('SESSION_CREATE_FAILED'));
        expect(provider.isAlive(sessionId)).toBe(false);
      });

      test('FR-002-03: that already runs is given when it is loaded', async () => {
        const { sessionId, watch, send } = await open();

        expect(await provider.loadSession(sessionId)).toMatchObject({ sessionId });

        await watch.ended(await send('text'));
        expect(watch.exits).toEqual([]);
      });

      test('that was killed can be loaded and goes on, for the same listeners', async () => {
        const { sessionId, watch, send } = await open();
        await watch.ended(await send('text'));
        await provider.killSession(sessionId);

        await provider.loadSession(sessionId, { projectDir: subject.projectDir });

        expect(provider.isAlive(sessionId)).toBe(true);
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('is forked after a turn where the agent can do that, and both go on', async () => {
        const { sessionId, watch, send } = await open();
        const turnId = await send('text');
        await watch.ended(turnId);
        const { projectDir } = subject;
        const id = watch.storedId ?? sessionId;

        const fork = await provider.fork?.(id, projectDir, turnId);

        if (fork !== undefined) {
          const { agentSessionId } = fork;
          const forkId = randomUUID();
          const there = new Watch(provider, forkId);
          await provider.loadSession(forkId, {
            projectDir,
            ...(agentSessionId !== undefined && { agentSessionId }),
          });
          const begun = await provider.sendMessage(forkId, subject.prompts.text);
          expectWholeTurn(await there.ended(begun.turnId));
        }
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('that is unknown takes no message', async () => {
        const sending = provider.sendMessage(randomUUID(), subject.prompts.text);

        await expect(sending).rejects.toMatchObject(coded('SESSION_NOT_FOUND'));
      });
    });

    describe('a turn', () => {
      test('TC-3.2a: is bound to its message before it ends, under the id that it was given', async () => {
        const { sessionId, watch } = await open();
        const given = randomUUID();

        const { turnId } = await provider.sendMessage(sessionId, subject.prompts.slow, {
          turnId: given,
        });

        expect(turnId).toBe(given);
        const types = watch.of(turnId).map(({ payload }) => payload.type);
        expect(types[0]).toBe('response_start');
        expect(types).not.toContain('response_done');
      });

      test('INV-2, INV-3: begins and ends once, and so does each of its items', async () => {
        const { watch, send } = await open();

        const events = await watch.ended(await send('text'));

        expectWholeTurn(events);
        for (const event of events) expect(StreamEvent.parse(event)).toEqual(event);
        expect(events.at(-1)?.payload).toMatchObject({
          type: 'response_done',
          status: 'completed',
        });
        expect(itemsOf(events)[0]).toMatchObject({
          type: 'message',
          origin: 'user',
          content: subject.prompts.text,
        });
        const answer = itemsOf(events).find(
          (item) => item.type === 'message' && item.origin === 'agent',
        );
        expect(answer).toMatchObject({ content: expect.stringMatching(/\w/) });
      });

      test('INV-2, INV-3: with a tool has its call and, by the same call id, its output', async () => {
        const { watch, send } = await open();

        const events = await watch.ended(await send('tool'));

        expectWholeTurn(events);
        const calls = itemsOf(events).filter((item) => item.type === 'function_call');
        expect(calls.length).toBeGreaterThan(0);
        for (const { callId, arguments: args } of calls) {
          expect(JSON.parse(args)).toBeTypeOf('object');
          const output = itemsOf(events).find(
            (item) => item.type === 'function_call_output' && item.callId === callId,
          );
          expect(output, `output of ${callId}`).toBeDefined();
        }
      });

      test('INV-2, INV-3: that fails says why, ends once, and the session goes on', async () => {
        const { watch, send } = await open();

        const events = await watch.ended(await send('error'));

        expectWholeTurn(events);
        const terminal = events.at(-1)?.payload;
        const error = terminal && 'error' in terminal ? terminal.error : undefined;
        expect(error).toMatchObject(coded(/^[A-Z_]+$/));
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('TC-3.2b: follows the one before, in the same session', async () => {
        const { watch, send } = await open();
        const first = await send('text');
        await watch.ended(first);

        const second = await send('tool');
        await watch.ended(second);

        expect(first).not.toBe(second);
        expect([...new Set(watch.events.map(({ turnId }) => turnId))]).toEqual([first, second]);
        expect(watch.exits).toEqual([]);
      });

      test('begins with all that was sent, files too, and is refused what its agent does not take', async () => {
        const { sessionId, watch } = await open();
        const accepts = await watch.until(
          () => watch.updates.findLast((one) => one.accepts)?.accepts,
        );
        const given = { image, audio, resource: textFile };
        const kinds = Object.keys(given) as (keyof typeof given)[];
        const [taken, refused] = [true, false].map((takes) =>
          kinds.filter((kind) => accepts[kind].length > 0 === takes).map((kind) => given[kind]),
        );
        const say = async (blocks: ContentBlock[]) =>
          provider.sendMessage(sessionId, subject.prompts.text, { blocks });
        for (const block of refused!) {
          await expect(say([block])).rejects.toMatchObject(coded('CONTENT_NOT_SUPPORTED'));
        }
        expect(watch.events).toEqual([]);

        const events = await watch.ended((await say(taken!)).turnId);

        expectWholeTurn(events);
        const [said] = itemsOf(events);
        expect(said).toMatchObject({ origin: 'user', content: subject.prompts.text });
        expect(said && 'blocks' in said ? said.blocks : []).toEqual(taken);
      });

      test('is not begun while another runs', async () => {
        const { watch, send } = await open();
        const running = await send('slow');

        await expect(send('text')).rejects.toMatchObject(coded('TURN_IN_PROGRESS'));

        expect([...new Set(watch.events.map(({ turnId }) => turnId))]).toEqual([running]);
      });
    });

    describe('a message amid a turn', () => {
      test('is refused where the agent takes none, or nothing runs, as the session has told', async () => {
        const { sessionId, watch } = await open();
        const { canSteer } = await watch.until(() =>
          watch.updates.find((one) => one.canSteer !== undefined),
        );
        const to = { turnId: randomUUID(), messageId: randomUUID() };

        const steering = provider.steer?.(sessionId, subject.prompts.text, to);

        const code = canSteer === true ? 'NOTHING_TO_STEER' : 'NOT_SUPPORTED';
        await expect(steering).rejects.toMatchObject(coded(code));
        expect(watch.events).toEqual([]);
      });

      test('is an item of that turn, and ends with it or has a turn of its own', async () => {
        const { sessionId, watch, send } = await open();
        const { canSteer } = await watch.until(() =>
          watch.updates.find((one) => one.canSteer !== undefined),
        );
        // The test before holds what such an agent does.
        if (canSteer !== true) return;
        const turnId = await send('slow');
        await watch.event(turnId, 'item_delta');
        const messageId = randomUUID();

        await provider.steer?.(sessionId, subject.prompts.text, { turnId, messageId });

        const itemId = steeredItem(turnId, messageId);
        expect(watch.of(turnId).map(({ payload }) => payload)).toContainEqual(
          expect.objectContaining({ type: 'item_start', itemId, delivery: 'sent' }),
        );
        await provider.cancelTurn(sessionId);
        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        const ends = events.flatMap(({ payload }) =>
          (payload.type === 'item_done' || payload.type === 'item_cancelled') &&
          payload.itemId === itemId
            ? [payload.type]
            : [],
        );
        expect(ends).toHaveLength(1);
        // What was taken back is not lost.
        if (ends[0] === 'item_cancelled') expectWholeTurn(await watch.ended(messageId));
      });
    });

    describe('stopping', () => {
      test('TC-3.4a, INV-2, INV-3: a cancelled turn ends as cancelled, and the session goes on', async () => {
        const { sessionId, watch, send } = await open();
        const turnId = await send('slow');

        await provider.cancelTurn(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
        expect(provider.isAlive(sessionId)).toBe(true);
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('a turn in the middle of its work is cancelled too', async () => {
        const { sessionId, watch, send } = await open();
        const turnId = await send('slow');
        await watch.event(turnId, 'item_delta');

        await provider.cancelTurn(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
      });

      test('with nothing to stop, cancelling does nothing', async () => {
        const { sessionId, watch, send } = await open();

        await provider.cancelTurn(sessionId);

        expect(watch.events).toEqual([]);
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('TC-3.4b: a killed session is not alive, says so once, and can be killed again', async () => {
        const { sessionId, watch } = await open();

        await provider.killSession(sessionId);
        await provider.killSession(sessionId);

        expect(provider.isAlive(sessionId)).toBe(false);
        expect(watch.exits).toMatchObject([{ expected: true }]);
      });

      test('INV-2, INV-3: a turn ends as cancelled when its session is killed', async () => {
        const { sessionId, watch, send } = await open();
        const turnId = await send('slow');

        await provider.killSession(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
      });

      test('TC-3.2c: a killed session takes no message', async () => {
        const { sessionId, send } = await open();
        await provider.killSession(sessionId);

        await expect(send('text')).rejects.toMatchObject(
          coded(/^(PROCESS_CRASH|SESSION_NOT_FOUND)$/),
        );
      });

      test('closing ends all sessions and their turns', async () => {
        const [one, other] = [await open(), await open()];
        const turnId = await one.send('slow');

        await provider.close();

        expect([one, other].map(({ sessionId }) => provider.isAlive(sessionId))).toEqual([
          false,
          false,
        ]);
        expectWholeTurn(await one.watch.ended(turnId));
      });
    });

    describe('a permission request', () => {
      const ask = async () => {
        const session = await open();
        const turnId = await session.send('approval');
        const request = await session.watch.until(() =>
          session.watch
            .of(turnId)
            .map(({ payload }) => payload)
            .find((payload) => payload.type === 'item_start' && payload.itemType === 'approval'),
        );
        if (request.type !== 'item_start') throw new Error('Not the request.');
        const { approvalId = '', options = [] } = request;
        const answer = (optionId: string) =>
          provider.answerApproval!(session.sessionId, approvalId, { optionId });
        const optionOf = (kind: string) => options.find((option) => option.kind === kind)!.optionId;
        return { ...session, turnId, request, answer, optionOf };
      };

      test('says what it is about, and the turn waits for the answer', async () => {
        const { watch, turnId, request } = await ask();

        expect(request).toMatchObject({ title: expect.stringMatching(/\w/) });
        expect(watch.of(turnId).at(-1)?.payload).toEqual(request);
        await watch.until(() => watch.upserts.some(isWaitingApproval));
      });

      test.each(['allow_once', 'reject_once'])(
        'INV-2, INV-3: answered with %s, has that outcome, and the turn goes to its end',
        async (kind) => {
          const { afterRefusal = 'completed' } = subject;
          const { watch, turnId, answer, optionOf } = await ask();

          await answer(optionOf(kind));

          const events = await watch.ended(turnId);
          expectWholeTurn(events);
          expect(itemsOf(events).find((item) => item.type === 'approval')).toMatchObject({
            outcome: { outcome: 'selected', optionId: optionOf(kind) },
          });
          const status = kind === 'reject_once' ? afterRefusal : 'completed';
          expect(events.at(-1)?.payload).toMatchObject({ status });
        },
      );

      test('takes only the answers that it offers, and waits on', async () => {
        const { watch, turnId, answer, optionOf } = await ask();

        await expect(answer('no-such-option')).rejects.toMatchObject(coded('INVALID_OPTION'));

        await answer(optionOf('allow_once'));
        expectWholeTurn(await watch.ended(turnId));
      });

      test('is answered once', async () => {
        const { watch, turnId, answer, optionOf } = await ask();
        await answer(optionOf('allow_once'));
        await watch.ended(turnId);

        await expect(answer(optionOf('allow_once'))).rejects.toMatchObject(
          coded('APPROVAL_NOT_FOUND'),
        );
      });

      test('ends as cancelled with its turn', async () => {
        const { sessionId, watch, turnId } = await ask();

        await provider.cancelTurn(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(itemsOf(events).find((item) => item.type === 'approval')).toMatchObject({
          outcome: { outcome: 'cancelled' },
        });
      });
    });

    describe('listeners', () => {
      test('INV-4: of upserts and turns see what the events say', async () => {
        const { watch, send } = await open();
        const turnId = await send('tool');
        const events = await watch.ended(turnId);
        const folded = events.reduce(foldResponse, emptyResponse());

        const last = new Map(watch.upserts.map((upsert) => [upsert.itemId, upsert]));

        const stored = responseToUpserts(toResponse(folded)!, '');
        expect([...last.values()].map(shown)).toEqual(expect.arrayContaining(stored.map(shown)));
        expect(watch.turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_complete']);
        expect(watch.turns.every((turn) => turn.turnId === turnId)).toBe(true);
      });

      test('hear nothing once they have unsubscribed', async () => {
        const { sessionId, watch, send } = await open();
        const heard: unknown[] = [];
        const push = (one: unknown) => void heard.push(one);
        const subscriptions = [
          provider.onEvent(sessionId, push),
          provider.onUpsert(sessionId, push),
          provider.onTurn(sessionId, push),
          provider.onExit(sessionId, push),
          provider.onUpdate(sessionId, push),
        ];

        for (const unsubscribe of subscriptions) unsubscribe();

        await watch.ended(await send('text'));
        await provider.killSession(sessionId);
        expect(heard).toEqual([]);
      });

      test('of one session hear nothing of another', async () => {
        const [one, other] = [await open(), await open()];

        await one.watch.ended(await one.send('text'));

        expect(other.watch.events).toEqual([]);
      });
    });
  });
}

/** The final items of a turn. */
function itemsOf(events: readonly StreamEvent[]) {
  return toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
}

const isWaitingApproval = (upsert: UpsertObject): boolean =>
  upsert.type === 'approval' && upsert.status === 'create' && upsert.outcome === undefined;

/** An upsert without the fields that depend on time or session. */
function shown(upsert: UpsertObject): Partial<UpsertObject> {
  const { emittedAt: _, sessionId: _session, sourceTimestamp: _source, ...rest } = upsert;
  return rest;
}
