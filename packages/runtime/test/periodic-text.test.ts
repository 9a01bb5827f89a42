import { periodicTexts } from '@liminal/agents/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Reader, startWorld, type World } from './harness.ts';
import { openMedium } from './medium.ts';

let world: World;

beforeEach(async () => {
  world = await startWorld({}, { medium: openMedium('sqlite') });
});
afterEach(async () => world.end());

test('INV-6: repetitive text reaches readers and history completely, however it is cut', async () => {
  const { runtime, agent, projectDir } = world;
  const { sessionId } = await runtime.createSession({ cliType: 'scripted', projectDir });
  const whole = await new Reader(runtime, sessionId).untilType('session:info');
  const growing = await new Reader(runtime, sessionId, { deltas: true }).untilType('session:info');
  await runtime.send(sessionId, 'Say it all.');
  for (const { period, size, chunks } of periodicTexts) {
    agent.text(sessionId, `m-${period}-${size}`, ...chunks);
    // Wait between the texts, because an agent does not send them all at once.
    await new Promise(setImmediate);
  }
  // Compare before the items end, because their ends contain the complete texts.
  for (const reader of [whole, growing]) await expect.poll(() => wrong(reader)).toEqual([]);
  agent.finish(sessionId);
  for (const reader of [whole, growing]) {
    await reader.untilTurn('turn_complete');
    expect(wrong(reader)).toEqual([]);
  }
  world = await world.restart();
  const { entries } = await world.runtime.history(sessionId, { limit: 200 });
  const shown = entries.map((item) => 'content' in item && item.content);
  expect(shown).toEqual(periodicTexts.slice(-shown.length).map(({ text }) => text));
});

/** The texts that differ in a reader. */
const wrong = ({ items }: Reader) =>
  periodicTexts.filter(({ period, size, text }) => {
    const item = items.get(`m-${period}-${size}`);
    return item?.type !== 'message' || item.content !== text;
  });
