import type { StreamEvent } from '@liminal/protocol';
import { emptyResponse, foldResponse } from '@liminal/protocol';
import { runOf } from '@liminal/protocol/testing';
import { openSharedMemoryStorage } from '@liminal/storage/memory';
import { expect, test } from 'vitest';
import { endInHistory, endLostRun, recoverSession, type Storage } from '../history/index.ts';
import { PostedEnds } from './session-cluster.ts';

const run = runOf([{ type: 'response_start', modelId: 'model-1', providerId: 'scripted' }]);
const [{ sessionId, runId }] = run as [StreamEvent];
const state = run.reduce(foldResponse, emptyResponse());
const now = () => '2026-01-01T00:00:00.000Z';

/**
 * The ways in which a server ends a run: after the run's writer was lost, or after a part of the run's log was lost.
 */
const ways: Record<string, (storage: Storage) => Promise<void>> = {
  'in history': async (storage) => endInHistory(storage, state, now),
  'as its writer': async (storage) => {
    const written = { runId, state, loggedSeq: 5, isBroken: false };
    await endLostRun(storage, written, false, now);
  },
  'as the next owner': async (storage) => recoverSession(storage, sessionId, 1, now),
};

const pairs = Object.keys(ways).flatMap((one) => Object.keys(ways).map((other) => [one, other]));

test.each(pairs)(
  'if two servers end a lost run at the same time, one %s and one %s, the run is counted once',
  async (...pair) => {
    const shared = openSharedMemoryStorage();
    const { board, leases } = shared.coordination;
    await shared.log.append(runId, run);
    let counted = 0;
    const server = (): Storage => ({
      ...shared,
      meter: { turnEnded: () => void (counted += 1) },
      cluster: new PostedEnds({
        board,
        leases,
        onTrouble: (error) => {
          throw error;
        },
      }),
    });
    await Promise.all(pair.map(async (way) => ways[way]?.(server())));
    expect(counted).toBe(1);
    expect(await shared.store.getResponse(runId)).toMatchObject({ status: 'error' });
    await shared.close();
  },
);
