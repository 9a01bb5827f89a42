/**
 * If a model repeats a step that fails, the output explains the failure to the model, and the turn ends after a few
 * repetitions.
 */
import type { Response } from '@liminal/protocol';
import { afterEach, expect, test } from 'vitest';
import { loudEcho } from '../../src/own/loop/testing/echo.ts';
import { type AnySession, interfaces, openSession, type AnswerScript } from './any-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function open(kind: (typeof interfaces)[number], says: AnswerScript): Promise<AnySession> {
  const session = await openSession(kind, says, [loudEcho]);
  ends.push(session.close);
  return session;
}

const errorOf = ({ error }: Response): string => error?.message ?? '';

test.each(interfaces)(
  'by %s: the model gets an explanation of a call that was cut off by the length limit, and three such calls end the turn',
  async (kind) => {
    let count = 0;
    const { runTurn, bodies } = await open(kind, () => {
      count += 1;
      // A real model also varies the text each time.
      const input = `{"text": "<!doctype html> ${count}`;
      return { words: 'Writing.', calls: [{ name: 'echo', arguments: input }], isCut: true };
    });
    const turn = await runTurn('Write the page');
    expect(bodies()).toHaveLength(3);
    expect(JSON.stringify(bodies()[1])).toContain('your answer reached its length limit');
    expect(turn.status).toBe('error');
    expect(errorOf(turn)).toMatch(
      /was cut off by its length limit .* call of echo, 3 times\. .*\.$/,
    );
    // The log keeps the call that was cut off, and the session continues.
    expect(JSON.stringify(turn.outputItems)).toContain('doctype html> 3');
    await runTurn('Shorter');
    expect(bodies()).toHaveLength(6);
  },
);

const steps: [string, () => { name: string; arguments: string }[], number][] = [
  ['that is not JSON', () => [{ name: 'echo', arguments: `{"te${Math.random()}` }], 3],
  ['of an unknown tool', () => [{ name: 'nobody', arguments: '{}' }], 5],
  ['that fails', () => [{ name: 'echo', arguments: '{"text":"fail"}' }], 5],
  [
    'that fails next to a call that works',
    () => [
      { name: 'echo', arguments: '{"text":"a"}' },
      { name: 'echo', arguments: '{"text":"fail"}' },
    ],
    5,
  ],
];

test.each(steps)('a call %s and is repeated unchanged ends the turn', async (_, made, most) => {
  const { runTurn, bodies } = await open('Chat Completions', () => ({ calls: made() }));
  const turn = await runTurn('Go');
  expect(errorOf(turn)).toContain('failed in the same way each time');
  expect(bodies()).toHaveLength(most);
});

test('alternating failures end the turn, and a successful step starts the count again', async () => {
  const failing = ['fail', 'nobody'];
  const alternating = await open('Chat Completions', () => {
    failing.push(failing.shift()!);
    const [text = ''] = failing;
    return text === 'nobody'
      ? { calls: [{ name: text, arguments: '{}' }] }
      : { calls: [{ name: 'echo', arguments: JSON.stringify({ text }) }] };
  });
  expect(errorOf(await alternating.runTurn('Go'))).toContain('failed in the same way');
  expect(alternating.bodies()).toHaveLength(9);

  const texts = ['fail', 'fail', 'a', 'fail', 'fail', 'a', 'fail', 'fail', 'a', 'fail', 'fail'];
  const working = await open('Chat Completions', () => {
    const text = texts.shift();
    if (text === undefined) return { words: 'Done.' };
    return { calls: [{ name: 'echo', arguments: JSON.stringify({ text }) }] };
  });
  expect(await working.runTurn('Go')).toMatchObject({ status: 'complete' });
});
