/** Tests that a script that is run again with the same answers does the same. */
import { expect, test } from 'vitest';
import { runScript, type ScriptHost } from '../../src/own/scripts/index.ts';

const minute = (at: number): string => `2026-01-02T03:0${at}:00.000Z`;

async function runAt(startedAt: string, code: string, answers: string[]): Promise<unknown> {
  let count = 0;
  const host: ScriptHost = {
    tools: [{ name: 'look' }],
    call: async () => ({ output: '', success: true, endedAt: answers[count++]! }),
  };
  const { signal } = new AbortController();
  const outcome = await runScript(code, host, { signal, startedAt });
  return outcome.ok ? outcome.result : outcome.error;
}

test('the script’s clock starts at the original start, stops while the script computes, and advances only with answers, never back', async () => {
  const code = `const times = [new Date()];
for (let at = 0; at < 100_000; at += 1) Math.sqrt(at);
times.push(new Date(Date.now()));
for (let at = 0; at < 2; at += 1) {
  await tools.look();
  times.push(new Date());
}
return times.map((time) => time.toISOString());`;
  expect(await runAt(minute(1), code, [minute(3), minute(2)])).toEqual([1, 1, 3, 3].map(minute));
});

test('random numbers are the same in a second run, and differ in a script that began at another time', async () => {
  const code = 'return [Math.random(), Math.random()]';
  const [first, again, other] = await Promise.all(
    [1, 1, 2].map(async (at) => runAt(minute(at), code, [])),
  );
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
  expect(new Set(first as number[]).size).toBe(2);
});
