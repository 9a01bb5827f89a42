import type { EventDraft } from '@liminal/protocol';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AgentDriver, AgentSession, SessionOutput } from '../contract/driver.ts';
import { AgentSessions, type HeldSession } from './held-session.ts';

/** The output of each opening. */
let outputs: SessionOutput[];
/** Each opening waits for this. */
let onOpen: () => Promise<void>;
let sessions: AgentSessions;
let held: HeldSession;
let listener: ReturnType<typeof newListener>;

const newListener = () => ({
  emit: vi.fn<SessionOutput['emit']>(),
  update: vi.fn<SessionOutput['update']>(),
  exit: vi.fn<SessionOutput['exit']>(),
});

const projectDir = import.meta.dirname;

beforeEach(() => {
  outputs = [];
  onOpen = async () => {};
  const about = { cliType: 'played', name: 'Played' };
  const driver: AgentDriver = {
    ...about,
    describe: async () => ({ ...about, description: 'Plays.', available: true }),
    open: async ({ output }) => {
      outputs.push(output);
      await onOpen();
      return playedSession();
    },
  };
  sessions = new AgentSessions(driver);
  held = sessions.get('a');
  listener = newListener();
  held.listen(listener);
});

function playedSession(): AgentSession {
  let isAlive = true;
  return {
    get isAlive() {
      return isAlive;
    },
    send: async () => {},
    cancel: async () => {},
    close: async () => void (isAlive = false),
  };
}

/** Begins an opening that waits for the test. */
async function beginOpening() {
  const opening = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  onOpen = async () => {
    begun.resolve();
    await opening.promise;
  };
  const opened = held.open({ projectDir });
  await begun.promise;
  return { opening, opened };
}

const updates = () => listener.update.mock.calls.map(([update]) => update);
const announced = { accepts: { image: [], audio: [], resource: [] }, canSteer: false };

describe('an open session', () => {
  test('is opened once for all callers, and only the first call returns that it opened the session', async () => {
    const opened = await Promise.all([held.open({ projectDir }), held.open({ projectDir })]);
    expect([...opened, await held.open({ projectDir })]).toEqual([true, false, false]);
    expect(outputs).toHaveLength(1);
  });

  test('bounds the depth of events, except plain deltas, which have no depth', async () => {
    await held.open({ projectDir });
    let value: unknown = 'end';
    for (let depth = 0; depth < 1_000; depth += 1) value = [value];
    const draft = (payload: EventDraft['payload']): EventDraft => ({
      turnId: 't',
      timestamp: '2026-01-01T00:00:00.000Z',
      payload,
    });
    const delta = draft({ type: 'item_delta', itemId: 'i', deltaContent: 'Hello' });
    outputs[0]!.emit(delta);
    outputs[0]!.emit(draft({ type: 'raw', content: value } as unknown as EventDraft['payload']));
    const [[same], [bounded]] = listener.emit.mock.calls as [[EventDraft], [EventDraft]];
    expect(same).toBe(delta);
    expect(JSON.stringify(bounded).length).toBeLessThan(1_000);
  });

  test('bounds the title of an update', async () => {
    await held.open({ projectDir });
    await vi.waitFor(() => expect(updates()).toEqual([announced]));
    outputs[0]!.update({ title: 'x'.repeat(2_000) });
    expect(updates().at(-1)).toEqual({ title: expect.stringMatching(/^x{1000}\W+.{0,40}$/) });
  });

  test('sends nothing to a listener that has left, and everything to the listener that replaced another', async () => {
    await held.open({ projectDir });
    const next = newListener();
    held.listen(next);
    held.unlisten(listener);
    outputs[0]!.exit({ expected: true });
    held.unlisten(next);
    outputs[0]!.exit({ expected: true });
    expect(listener.exit).not.toHaveBeenCalled();
    expect(next.exit).toHaveBeenCalledTimes(1);
  });

  test('stays the same object while the session is open, even without a listener, so that a crashed agent is closed before the session is opened again', async () => {
    await held.open({ projectDir });
    held.unlisten(listener);
    expect(sessions.get('a')).toBe(held);
    await held.end();
    expect(sessions.get('a')).not.toBe(held);
    expect(sessions.get('a').before).toMatchObject({ projectDir });
  });

  test('rejects a method that it lacks with a sentence about the agent', async () => {
    expect(() => held.method('aside')).toThrow('Played has no session a.');
    await held.open({ projectDir });
    expect(() => held.method('aside')).toThrow(
      expect.objectContaining({
        code: 'NOT_SUPPORTED',
        message: 'Played cannot answer questions outside its conversation. Ask in a message.',
      }),
    );
    await held.end();
    expect(() => held.method('aside')).toThrow(expect.objectContaining({ code: 'PROCESS_CRASH' }));
  });
});

describe('updates that are held back', () => {
  test('are sent as one update when the session is open, with the newest value of each field', async () => {
    const { opening, opened } = await beginOpening();
    outputs[0]!.update({ title: 'First', commands: [] });
    outputs[0]!.update({ title: 'Second' });
    opening.resolve();
    await opened;
    expect(updates()).toEqual([]);
    await vi.waitFor(() =>
      expect(updates()).toEqual([{ title: 'Second', commands: [], ...announced }]),
    );
    outputs[0]!.update({ title: 'Third' });
    expect(updates().at(-1)).toEqual({ title: 'Third' });
  });

  test('are not sent if the session could not be opened', async () => {
    const { opening, opened } = await beginOpening();
    outputs[0]!.update({ title: 'First' });
    opening.reject(new Error('It does not start.'));
    await expect(opened).rejects.toThrow('It does not start.');
    expect(updates()).toEqual([]);
  });

  test('are sent even if an earlier opening that has been ended is announced only now', async () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] });
    onTestFinished(() => void vi.useRealTimers());
    await held.open({ projectDir });
    await held.end();
    const { opening, opened } = await beginOpening();
    outputs[1]!.update({ title: 'Second' });
    vi.runAllTimers();
    opening.resolve();
    await opened;
    vi.runAllTimers();
    expect(updates()).toEqual([{ title: 'Second', ...announced }]);
  });
});
