import { expect, onTestFinished, test } from 'vitest';
import type { Logger } from '../src/index.ts';
import { Reader, startWorld } from './harness.ts';

test('the server’s log names the session, turn, run and trace that a line is about', async () => {
  const lines: { message: string; details: object }[] = [];
  const note = (details: object, message: string): void => void lines.push({ message, details });
  const logger: Logger = { info: note, warn: note, error: note };
  const { runtime, agent, projectDir, end } = await startWorld({}, { logger });
  onTestFinished(end);
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const reader = await new Reader(runtime, sessionId).untilType('session:info');
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const traceContext = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const { turnId } = await runtime.send(sessionId, 'Hello', undefined, { traceContext });
  agent.emit(sessionId, { type: 'heartbeat' }, 'another turn');
  agent.emit(sessionId, { type: 'response_error', error: { code: 'X', message: 'x' } }, turnId);
  await reader.untilTurn('turn_error');
  const ids = { sessionId, turnId, runId: turnId, traceId };
  await expect
    .poll(() => lines)
    .toEqual([
      { message: 'a turn has begun', details: { ...ids, cliType: 'scripted' } },
      {
        message: 'an event outside its turn another turn was dropped',
        details: expect.objectContaining(ids),
      },
      {
        message: 'a turn has ended',
        details: expect.objectContaining({ ...ids, status: 'error', code: 'X' }),
      },
    ]);
});
