import { atLength } from '@liminal/testkit/at-length';
import { expect, onTestFinished, test } from 'vitest';
import { isTerminal, stampEvent } from '@liminal/protocol';
import { expectWholeTurn } from '../../src/testing/watch.ts';
import { runAgent, messagesOf, type Listener } from './running-agent.ts';

const lines = atLength ? 10_000 : 2_000;
const turns = 10;

/** Checks all turns of the session, including turns that the agent began. */
function expectWholeTurns(listener: Listener): void {
  const traceContext = { traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` };
  for (const [runId, drafts] of Map.groupBy(listener.events, ({ turnId }) => turnId)) {
    const run = { sessionId: listener.sessionId, runId, traceContext };
    expectWholeTurn(drafts.map((draft, seq) => stampEvent(draft, run, seq)));
  }
}

test(`INV-2, INV-3: ${lines} broken lines in ${turns} turns cause no crash, hang or unhandled rejection, and each turn ends once`, async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  const { create, control, provider } = await runAgent(
    {
      turns: [
        ...Array.from({ length: turns }, (_, turn) => ({
          when: `Turn ${turn}.`,
          steps: [{ fuzz: { seed: turn, count: lines / turns } }],
        })),
        { steps: [{ say: 'Calm.' }] },
      ],
    },
    { provider: { ownTurnIdleMs: 100 } },
  );
  const listener = await create();

  for (let turn = 0; turn < turns; turn += 1) {
    const turnId = await listener.send(`Turn ${turn}.`);
    await listener.until(() =>
      listener.events.some((one) => one.turnId === turnId && isTerminal(one.payload)),
    );
  }
  // Some of the lines answer open prompts; the agent reads this prompt after all the lines.
  const response = await listener.ask('After the storm.');

  expect(messagesOf(response)).toEqual(['user: After the storm.', 'agent: Calm.']);
  await provider.killSession(listener.sessionId);
  expectWholeTurns(listener);
  expect(listener.exits).toEqual([{ expected: true }]);
  expect(control.processes).toHaveLength(1);
  expect(unhandled).toEqual([]);
});
