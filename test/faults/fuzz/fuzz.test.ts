/**
 * Sends input of clients by HTTP, WebSocket and ACP: valid by the schemas, nearly valid, and hostile. A failure prints
 * its seed (for `FAULTS_SEED`) and the sent messages.
 */
import { refusals } from '@liminal/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { length, seed } from '../length.ts';
import { dialogs, playDialog } from './acp.ts';
import { operationSteps, playOperations } from './operations.ts';
import { playRaw, rawConnections } from './raw-http.ts';
import { FuzzStage, type Memory } from './stage.ts';
import { playUploads, uploads } from './uploads.ts';
import { frames, playFrames } from './websocket.ts';

/** How many bytes the second half of the test may add at most. `used` excludes free heap, so its bound is smaller. */
const maxGrowth = { used: 24 * 1024 * 1024, rss: 160 * 1024 * 1024 };

let stage: FuzzStage;
/** The turn of the demo that was played before all other input. */
let healthy: unknown;
const memory: Memory[] = [];

beforeAll(async () => {
  stage = await FuzzStage.start();
  healthy = await stage.demoTurn();
});
afterAll(async () => stage.end());

type Play = (half: number) => Promise<void>;

function fuzz<T>(
  inputs: fc.Arbitrary<T>,
  play: (input: T, stage: FuzzStage) => Promise<void>,
): Play {
  return async (half) => {
    const property = fc.asyncProperty(inputs, (input) => stage.play(() => play(input, stage)));
    const limits = { numRuns: length.fuzz.runs, interruptAfterTimeLimit: length.fuzz.lastsMs };
    try {
      await fc.assert(property, { ...limits, seed: seed + half });
    } finally {
      await stage.untilPlayed();
    }
  };
}

const kinds: [name: string, play: Play][] = [
  ['operations on running sessions, some at the same time', fuzz(operationSteps, playOperations)],
  ['frames of a WebSocket', fuzz(frames, playFrames)],
  ['messages of an ACP client', fuzz(dialogs, playDialog)],
  ['bytes that are nearly HTTP', fuzz(rawConnections, playRaw)],
  ['uploaded files', fuzz(uploads, playUploads)],
];

describe.each([
  ['first', 0],
  ['second', 1],
])('the %s half', (_, half) => {
  test.each(kinds)(
    'every answer to %s has a documented code, and the event loop is never blocked',
    async (_name, play) => expect(play(half)).resolves.toBeUndefined(),
    length.fuzz.lastsMs + 120_000,
  );

  test('after the test, no connection is left, and a turn works as before', async () => {
    await stage.untilNoSockets();
    memory.push(await stage.memory());
    expect(await stage.demoTurn()).toEqual(healthy);
  });
});

test('between the two halves of the test, memory grows by less than a limit', () => {
  const [first, second] = memory;
  if (first === undefined || second === undefined) throw new Error('A half was not measured.');
  expect(second.used - first.used).toBeLessThan(maxGrowth.used);
  expect(second.rss - first.rss).toBeLessThan(maxGrowth.rss);
});

test('the log contains no internal error', () => {
  expect(stage.log.filter(isMistake)).toEqual([]);
});

const LogLine = z.object({ level: z.number(), msg: z.string() });
/** The level `error`. The log must contain no line with this level. */
const errorLevel = 50;

/** Matches a line that is not JSON, or an error without a code of the refusals table. */
function isMistake(line: string): boolean {
  const { level, msg } = LogLine.parse(JSON.parse(line));
  return level >= errorLevel && (msg === 'INTERNAL' || !Object.hasOwn(refusals, msg));
}
