/** People see the citations of an answer, while the model's text is unchanged. */
import { afterEach, expect, test } from 'vitest';
import { interfaces, openSession, type ScriptedAnswer } from './any-server.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

test.each(interfaces)(
  'by %s: citations that the text does not contain are listed once for people, and are not sent back to the model',
  async (kind) => {
    const cited = [
      { title: 'One [of two]', url: 'https://one.example/a_(b)' },
      { title: 'Two', url: 'https://two.example/' },
      { title: 'One, again', url: 'https://one.example/a_(b)' },
    ];
    const words = 'It is so, says [two](https://two.example/).';
    const says: ScriptedAnswer[] = [
      { words, cited },
      { words: 'Yes.', cited: cited.slice(1, 2) },
    ];
    const { runTurn, bodies, close } = await openSession(kind, () => says.shift()!, []);
    ends.push(close);
    const { outputItems } = await runTurn('Is it so?');
    expect(outputItems).toMatchObject([
      { type: 'message', origin: 'user' },
      { type: 'message', origin: 'agent', content: words },
      {
        type: 'message',
        origin: 'system',
        content: `Sources of the answer:\n\n- [One \\[of two\\]](https://one.example/a_%28b%29)`,
      },
    ]);
    await runTurn('Sure?');
    expect(JSON.stringify(bodies()[1])).toContain(words);
    expect(JSON.stringify(bodies()[1])).not.toContain('Sources of');
  },
);
