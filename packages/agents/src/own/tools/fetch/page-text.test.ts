import { once } from 'node:events';
import { expect, test } from 'vitest';
import { pageText } from './page-text.ts';

/** The time limit for large pages, in ms: an algorithm that compares each piece with all others would take hours. */
const timeout = 180_000;
const never = new AbortController().signal;

/** A module with this code, which a thread runs instead of the code that converts pages. */
const moduleOf = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const busy = moduleOf('for (;;);');
const broken = moduleOf('throw new Error("broken");');

test('a page is converted to its text', async () => {
  expect(await pageText('<p>One <b>two</b>', never)).toEqual({ text: 'One two', isCut: false });
});

test('the conversion of a page that takes too long, or fails, is abandoned', async () => {
  await expect(pageText('', never, { module: busy, limit: 200 })).rejects.toThrow(
    'The page cannot be read: it takes longer than 0.2 s.',
  );
  await expect(pageText('', never, { module: broken })).rejects.toThrow(
    'The page cannot be read: it needs too much memory, or is broken.',
  );
});

test('a stop ends the conversion of pages, also of pages that wait for a thread', async () => {
  const stop = new AbortController();
  const reading = Array.from({ length: 5 }, async () =>
    pageText('', stop.signal, { module: busy, limit: 3_600_000 }),
  );
  await Promise.race([once(process, 'worker'), Promise.allSettled(reading)]);
  stop.abort();
  for (const one of reading) await expect(one).rejects.toThrow('The call was stopped.');
  // After the stop, the threads are available again.
  expect(await pageText('<p>next', never)).toMatchObject({ text: 'next' });
  await expect(pageText('', stop.signal)).rejects.toThrow('The call was stopped.');
});

test('the server can do other work while a page is converted', async () => {
  const stop = new AbortController();
  const reading = pageText('', stop.signal, { module: busy, limit: 3_600_000 });
  await once(process, 'worker');
  // If the page were converted in this thread, the timer would not fire.
  await new Promise((resolve) => setTimeout(resolve, 0));
  stop.abort();
  await expect(reading).rejects.toThrow('The call was stopped.');
});

test.each([
  ['blanks', ' '],
  ['tabs', '\t'],
  ['line breaks', '\n'],
  ['blanks and line breaks', ' \n'],
  ['carriage returns', '\r'],
  ['no-break spaces', '\u00a0'],
  ['empty elements', '<b></b>'],
  ['open elements', '<b>'],
  ['end tags without an open element', '</b>'],
  ['end tags in deep markup', '</i>', '<b>'.repeat(450)],
  ['open links', '<a href="https://example.com">'],
  ['list items', '<li>'],
  ['attributes', ' a=1', '<b'],
  ['the same attribute', ' a="b"', '<b'],
  ['open quotes', '"', '<b a='],
  ['open comments', '<!--'],
  ['entities', '&amp;'],
  ['broken entities', '&a'],
  ['open tags', '<'],
  ['titles', '<title>'],
  ['drawings', '<svg><title>'],
])(
  'a page with many %s takes little time and memory',
  { timeout },
  async (_name, piece, start = '<pre>') => {
    // The largest page that `fetch` accepts, and the most text that is read.
    for (const length of [5 * 1024 * 1024, 1_000_000]) {
      const html = `${start}${piece.repeat(length / piece.length)}x`;
      expect((await pageText(html, never, { limit: timeout })).text.length).toBeLessThan(1_200_000);
    }
  },
);

test('a page with a million attributes takes little time and memory', { timeout }, async () => {
  const names = Array.from({ length: 1_000_000 }, (_, at) => at.toString(36));
  const page = await pageText(`<p ${names.join(' ')}>text`, never, { limit: timeout });
  expect(page).toEqual({ text: 'text', isCut: false });
});
