/** The tests that every provider must pass, for the interface `CliProvider`. Requirement ids are from seed 000. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  type ContentBlock,
  emptyResponse,
  foldResponse,
  responseToUpserts,
  steeredItemId,
  StreamEvent,
  toResponse,
  type UpsertObject,
} from '@liminal/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CliProvider } from '../contract/provider.ts';
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

/** The ids of those requirements of seed 000 that apply to one provider. */
const requirementOf: Readonly<Record<string, string>> = {
  'claude-code': 'TC-2.1b, ',
  codex: 'TC-2.1c, ',
};

/**
 * Runs the suite on the provider that `setup` makes. Starting an agent is slow, so most tests run their turns in the
 * same session, one after another.
 */
export function providerSuite(name: string, setup: () => Promise<ProviderUnderTest>): void {
  describe(`provider ${name}`, () => {
    let subject: ProviderUnderTest;
    let provider: CliProvider;
    let first: Awaited<ReturnType<typeof openSession>> | undefined;
    let fork: string | undefined;
    beforeAll(async () => {
      subject = await setup();
      provider = subject.provider;
    });
    afterAll(async () => {
      await provider.close();
      await subject.teardown();
    });

    /**
     * Returns the shared session, after its turns have ended. `watch` gets the session's further events, and `told` has
     * all earlier events.
     */
    const shared = async () => {
      if (!first || !provider.isAlive(first.sessionId)) first = await openSession(subject);
      const { watch: told, ...session } = first;
      const watch = new Watch(provider, session.sessionId);
      const stop = async (turnId: string) => {
        await provider.cancelTurn(session.sessionId);
        return watch.ended(turnId);
      };
      return { ...session, watch, told, stop };
    };

    describe('the provider', () => {
      test.each(lifecycle)('TC-2.1a: has the lifecycle method %s', (method) => {
        expect(provider[method]).toBeTypeOf('function');
      });

      test('names and describes the agent type without starting it', async () => {
        const info = await provider.describe();

        expect(info.cliType).toBe(provider.cliType);
        expect(info.description).not.toBe('');
        expect(info.available).toBe(true);
      });
    });

    describe('a session', () => {
      test('TC-3.4c, TC-3.4b, TC-3.2c: is alive from creation to kill; reports its end once, only to listeners that are still there; then rejects messages', async () => {
        const { sessionId, cliType } = await provider.createSession({
          projectDir: subject.projectDir,
        });

        // The caller gave no id, so the provider made an id.
        expect(cliType).toBe(provider.cliType);
        const one = await shared();
        expect(sessionId).not.toBe(one.sessionId);
        expect(provider.isAlive(sessionId)).toBe(true);
        const watch = new Watch(provider, sessionId);
        await one.watch.ended(await one.send('text'));
        // Events of one session are not sent to listeners of another session.
        expect(watch.events).toEqual([]);
        const received: unknown[] = [];
        const push = (one: unknown) => void received.push(one);
        const subscriptions = [
          provider.onEvent(sessionId, push),
          provider.onUpsert(sessionId, push),
          provider.onTurn(sessionId, push),
          provider.onExit(sessionId, push),
          provider.onUpdate(sessionId, push),
        ];
        for (const unsubscribe of subscriptions) unsubscribe();
        const { turnId } = await provider.sendMessage(sessionId, subject.prompts.text);
        await watch.ended(turnId);
        await provider.killSession(sessionId);
        await provider.killSession(sessionId);
        expect(provider.isAlive(sessionId)).toBe(false);
        expect(watch.exits).toMatchObject([{ expected: true }]);
        expect(received).toEqual([]);
        await expect(provider.sendMessage(sessionId, subject.prompts.text)).rejects.toMatchObject(
          coded(/^(PROCESS_CRASH|SESSION_NOT_FOUND)$/),
        );
      });

      test('TC-3.1c: in a missing folder is rejected and leaves no session behind', async () => {
        const sessionId = randomUUID();
        const projectDir = join(subject.projectDir, 'missing');

        const creation = provider.createSession({ projectDir, sessionId });

        await expect(creation).rejects.toMatchObject(coded('SESSION_CREATE_FAILED'));
        expect(provider.isAlive(sessionId)).toBe(false);
      });

      test('FR-002-03: that already runs can be loaded again and is returned', async () => {
        const { sessionId, watch, send } = await shared();

        expect(await provider.loadSession(sessionId)).toMatchObject({ sessionId });

        await watch.ended(await send('text'));
        expect(watch.exits).toEqual([]);
      });

      test('INV-2, INV-3: that is killed cancels its turn; after loading, the same listeners get its further events', async () => {
        const { sessionId, watch, send } = await shared();
        await watch.ended(await send('text'));
        const turnId = await send('slow');
        await provider.killSession(sessionId);
        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });

        await provider.loadSession(sessionId, { projectDir: subject.projectDir });

        expect(provider.isAlive(sessionId)).toBe(true);
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('can be forked after a turn if the agent supports it, and both sessions continue', async () => {
        const { sessionId, told, watch, send } = await shared();
        const turnId = await send('text');
        await watch.ended(turnId);
        const { projectDir } = subject;
        const id = told.storedId ?? watch.storedId ?? sessionId;

        const cannotFork =
          provider.forksWhole === true && (await provider.describe()).forks !== true;
        const made = cannotFork ? undefined : await provider.fork?.(id, projectDir, turnId);

        if (made !== undefined) {
          const { agentSessionId } = made;
          const forkId = randomUUID();
          const there = new Watch(provider, forkId);
          await provider.loadSession(forkId, {
            projectDir,
            ...(agentSessionId !== undefined && { agentSessionId }),
          });
          fork = forkId;
          const begun = await provider.sendMessage(forkId, subject.prompts.text);
          expectWholeTurn(await there.ended(begun.turnId));
        }
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('with an unknown id rejects a message', async () => {
        const sending = provider.sendMessage(randomUUID(), subject.prompts.text);

        await expect(sending).rejects.toMatchObject(coded('SESSION_NOT_FOUND'));
      });
    });

    describe('a turn', () => {
      test('TC-3.2a: is bound to its message, under the given turn id, before the turn ends', async () => {
        const { sessionId, watch, stop } = await shared();
        const given = randomUUID();

        const { turnId } = await provider.sendMessage(sessionId, subject.prompts.slow, {
          turnId: given,
        });

        expect(turnId).toBe(given);
        const types = watch.of(turnId).map(({ payload }) => payload.type);
        expect(types[0]).toBe('response_start');
        expect(types).not.toContain('response_done');
        await stop(turnId);
      });

      test(`${requirementOf[name] ?? ''}INV-2, INV-3: begins and ends once, as does each of its items`, async () => {
        const { watch, send } = await shared();

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

      test('INV-2, INV-3: with a tool has a call and an output with the same call id', async () => {
        const { watch, send } = await shared();

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

      test('INV-2, INV-3: that fails has an error and ends only once, and the session continues', async () => {
        const { watch, send } = await shared();

        const events = await watch.ended(await send('error'));

        expectWholeTurn(events);
        const terminal = events.at(-1)?.payload;
        const error = terminal && 'error' in terminal ? terminal.error : undefined;
        expect(error).toMatchObject(coded(/^[A-Z_]+$/));
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('TC-3.2b: runs after the earlier turn of the same session', async () => {
        const { watch, send } = await shared();
        const first = await send('text');
        await watch.ended(first);

        const second = await send('tool');
        await watch.ended(second);

        expect(first).not.toBe(second);
        expect([...new Set(watch.events.map(({ turnId }) => turnId))]).toEqual([first, second]);
        expect(watch.exits).toEqual([]);
      });

      test('begins with the whole message, including its files; content that the agent does not accept is rejected', async () => {
        const { sessionId, told, watch } = await shared();
        const accepts = await told.until(
          () => told.updates.findLast((one) => one.accepts)?.accepts,
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

      test('is rejected while another turn runs', async () => {
        const { watch, send, stop } = await shared();
        const running = await send('slow');

        await expect(send('text')).rejects.toMatchObject(coded('TURN_IN_PROGRESS'));

        expect([...new Set(watch.events.map(({ turnId }) => turnId))]).toEqual([running]);
        await stop(running);
      });
    });

    describe('a steered message', () => {
      test('is rejected if no turn runs, or if the agent does not support steering, which the session reports', async () => {
        const { sessionId, told, watch } = await shared();
        const { canSteer } = await told.until(() =>
          told.updates.find((one) => one.canSteer !== undefined),
        );
        const to = { turnId: randomUUID(), messageId: randomUUID() };

        const steering = provider.steer?.(sessionId, subject.prompts.text, to);

        const code = canSteer === true ? 'NOTHING_TO_STEER' : 'NOT_SUPPORTED';
        await expect(steering).rejects.toMatchObject(coded(code));
        expect(watch.events).toEqual([]);
      });

      test('is an item of the turn, and ends with the turn or gets its own turn', async () => {
        const { sessionId, told, watch, send } = await shared();
        const { canSteer } = await told.until(() =>
          told.updates.find((one) => one.canSteer !== undefined),
        );
        // The previous test checks agents that cannot steer.
        if (canSteer !== true) return;
        const turnId = await send('slow');
        await watch.event(turnId, 'item_delta');
        const messageId = randomUUID();

        await provider.steer?.(sessionId, subject.prompts.text, { turnId, messageId });

        const itemId = steeredItemId(turnId, messageId);
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
        // If the message was withdrawn from the turn, it gets its own turn.
        if (ends[0] === 'item_cancelled') expectWholeTurn(await watch.ended(messageId));
      });
    });

    describe('stopping', () => {
      test('TC-3.4a, INV-2, INV-3: a cancelled turn ends as cancelled, and the session continues', async () => {
        const { sessionId, watch, send } = await shared();
        const turnId = await send('slow');

        await provider.cancelTurn(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
        expect(provider.isAlive(sessionId)).toBe(true);
        expectWholeTurn(await watch.ended(await send('text')));
      });

      test('a turn is cancelled while the agent works', async () => {
        const { sessionId, watch, send } = await shared();
        const turnId = await send('slow');
        await watch.event(turnId, 'item_delta');

        await provider.cancelTurn(sessionId);

        const events = await watch.ended(turnId);
        expectWholeTurn(events);
        expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled' });
      });

      test('cancelling has no effect if no turn runs', async () => {
        const { sessionId, watch, send } = await shared();

        await provider.cancelTurn(sessionId);

        expect(watch.events).toEqual([]);
        expectWholeTurn(await watch.ended(await send('text')));
      });
    });

    describe('a permission request', () => {
      const ask = async () => {
        const session = await shared();
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

      test.each(['allow_once', 'reject_once'])(
        'INV-2, INV-3: answered with %s has that outcome once, and the turn continues to its end',
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
          await expect(answer(optionOf(kind))).rejects.toMatchObject(coded('APPROVAL_NOT_FOUND'));
        },
      );

      test('has a title and accepts only the offered answers, while the turn waits', async () => {
        const { watch, turnId, request, answer, optionOf } = await ask();
        expect(request).toMatchObject({ title: expect.stringMatching(/\w/) });
        expect(watch.of(turnId).at(-1)?.payload).toEqual(request);
        await watch.until(() => watch.upserts.some(isWaitingApproval));

        await expect(answer('no-such-option')).rejects.toMatchObject(coded('INVALID_OPTION'));

        await answer(optionOf('allow_once'));
        expectWholeTurn(await watch.ended(turnId));
      });

      test('ends as cancelled if its turn is cancelled', async () => {
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
      test('INV-4: of upserts and turns get content equal to that of the events', async () => {
        const { watch, send } = await shared();
        const turnId = await send('tool');
        const events = await watch.ended(turnId);
        const folded = events.reduce(foldResponse, emptyResponse());

        const last = new Map(watch.upserts.map((upsert) => [upsert.itemId, upsert]));

        const stored = responseToUpserts(toResponse(folded)!, '');
        expect([...last.values()].map(shown)).toEqual(expect.arrayContaining(stored.map(shown)));
        expect(watch.turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_complete']);
        expect(watch.turns.every((turn) => turn.turnId === turnId)).toBe(true);
      });
    });

    test('closing ends all sessions and their turns', async () => {
      const one = await shared();
      const other = fork ?? (await openSession(subject)).sessionId;
      const turnId = await one.send('slow');
      expect([one.sessionId, other].map((id) => provider.isAlive(id))).toEqual([true, true]);

      await provider.close();

      expect([one.sessionId, other].map((id) => provider.isAlive(id))).toEqual([false, false]);
      expectWholeTurn(await one.watch.ended(turnId));
    });
  });
}

/** Returns the final items of a turn. */
function itemsOf(events: readonly StreamEvent[]) {
  return toResponse(events.reduce(foldResponse, emptyResponse()))?.outputItems ?? [];
}

const isWaitingApproval = (upsert: UpsertObject): boolean =>
  upsert.type === 'approval' && upsert.status === 'create' && upsert.outcome === undefined;

/** Returns an upsert without the fields that differ between times and sessions. */
function shown(upsert: UpsertObject): Partial<UpsertObject> {
  const { emittedAt: _, sessionId: _session, sourceTimestamp: _source, ...rest } = upsert;
  return rest;
}
