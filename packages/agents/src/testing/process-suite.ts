/** Additional tests for a provider that starts a process, if the agent stores its sessions itself. */
import { randomUUID } from 'node:crypto';
import { isTerminal } from '@liminal/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { coded, openSession, type ProviderUnderTest } from './subject.ts';

export interface ProcessUnderTest extends ProviderUnderTest {
  /** Kills the session's process from outside, like a crash. */
  crash: (sessionId: string) => Promise<void>;
}

/** Runs this suite, in addition to `providerSuite`, on one provider made by `setup`. */
export function processSuite(name: string, setup: () => Promise<ProcessUnderTest>): void {
  describe(`processes of provider ${name}`, () => {
    let subject: ProcessUnderTest;
    beforeAll(async () => {
      subject = await setup();
    });
    afterAll(async () => {
      await subject.provider.close();
      await subject.teardown();
    });

    test('loading a session that the agent does not have is rejected', async () => {
      const { provider, projectDir } = subject;

      const loading = provider.loadSession(randomUUID(), { projectDir });

      await expect(loading).rejects.toMatchObject(coded('SESSION_NOT_FOUND'));
    });

    test('TC-3.2c, INV-2: after its process crashed, a session reports the reason, rejects messages, and continues once it is loaded', async () => {
      const { sessionId, watch, send } = await openSession(subject);
      await watch.ended(await send('text'));
      const turnId = await send('slow');
      await watch.event(turnId, 'item_delta');

      await subject.crash(sessionId);

      const exit = await watch.until(() => watch.exits[0]);
      expect(exit).toMatchObject({ expected: false, ...coded(/^[A-Z_]+$/) });
      expect(subject.provider.isAlive(sessionId)).toBe(false);
      expect(watch.of(turnId).filter(({ payload }) => isTerminal(payload)).length).toBeLessThan(2);
      await expect(send('text')).rejects.toMatchObject(
        coded(/^(PROCESS_CRASH|SESSION_NOT_FOUND)$/),
      );

      await subject.provider.loadSession(sessionId, { projectDir: subject.projectDir });

      const events = await watch.ended(await send('text'));
      expect(events.at(-1)?.payload).toMatchObject({ status: 'completed' });
    });
  });
}
