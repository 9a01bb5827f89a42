/** Errors thrown anywhere on the path of an agent's output end only that turn. */
import type { EventPayload } from '@liminal/protocol';
import { atLength } from '@liminal/testkit/at-length';
import { afterEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';

let world: World;

afterEach(async () => world.end());

/** A copy of a value that throws once: on its `after`-th access. */
function trap<T extends object>(value: T, after: number): { value: T; isSprung: () => boolean } {
  let looks = 0;
  const look = (): void => {
    looks += 1;
    if (looks === after) throw new Error('Unexpected error.');
  };
  const wrap = (inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null
      ? new Proxy(inner, {
          get: (target, key) => {
            look();
            return wrap(Reflect.get(target, key));
          },
          ownKeys: (target) => {
            look();
            return Reflect.ownKeys(target);
          },
        })
      : inner;
  return { value: wrap(value) as T, isSprung: () => looks >= after };
}

const content = 'Something.';
const payloads: EventPayload[] = [
  { type: 'item_start', itemId: 'i', itemType: 'message' },
  { type: 'item_delta', itemId: 'm', deltaContent: content },
  { type: 'item_delta', itemId: 'm', deltaContent: content, patch: { title: 'Said' } },
  {
    type: 'item_done',
    itemId: 'm',
    finalItem: { type: 'message', id: 'm', content, origin: 'agent' },
  },
  { type: 'item_start', itemId: 'p', itemType: 'approval', approvalId: 'p', options: [] },
  {
    type: 'response_done',
    status: 'completed',
    finishReason: 'end_turn',
    usage: { inputTokens: 1, outputTokens: 1 },
  },
];

/** Only every second payload is tested, except in long runs. */
test.each(atLength ? payloads : payloads.filter((_, index) => index % 2 === 1))(
  'SAFE: an error with $type, wherever it is thrown, ends only that turn: the next turn and another session work',
  async (payload) => {
    world = await startWorld({ cadenceMs: 1 });
    const { runtime, agent, projectDir } = world;
    const create = async (): Promise<string> =>
      (await runtime.createSession({ cliType: 'scripted', projectDir })).sessionId;
    const [hurt, healthy] = [await create(), await create()];
    const rest = async (sessionId: string): Promise<void> => {
      const state = async (): Promise<string> => (await runtime.status(sessionId)).state;
      await expect.poll(state, { timeout: 20_000 }).toMatch(/idle|failed/);
    };
    let sprung = 0;
    for (let after = 1; ; after += 1 + Math.floor(after / 8)) {
      // Readers are subscribed, because the error may also be thrown on their part of the path.
      const readers = [new Reader(runtime, hurt), new Reader(runtime, hurt, { deltas: true })];
      const { turnId, queued } = await runtime.send(hurt, 'Go.');
      await runtime.send(healthy, 'Go on.');
      expect(queued).toBe(false);
      agent.text(hurt, 'm', 'Before. ');
      const { value, isSprung } = trap(payload, after);
      emitIfPossible(() => agent.emit(hurt, value, turnId));
      emitIfPossible(() => agent.finish(hurt));
      agent.finish(healthy);
      await Promise.all([rest(hurt), rest(healthy)]);
      const turn = (await runtime.history(hurt)).turns.find((one) => one.turnId === turnId);
      expect(['complete', 'error']).toContain(turn?.status);
      // The turn's error is the internal one: the server was not stopped.
      expect([undefined, 'INTERNAL']).toContain(turn?.error?.code);
      for (const reader of readers) reader.close();
      if (!isSprung()) break;
      sprung += 1;
    }
    expect(sprung).toBeGreaterThan(3);
    expect((await runtime.history(healthy)).turns.map(({ status }) => status)).not.toContain(
      'error',
    );
  },
);

/** Calls `say`, which runs on the agent's side and may throw as well. */
function emitIfPossible(say: () => void): void {
  try {
    say();
  } catch {
    // If `say` throws, the event did not reach the runtime.
  }
}
