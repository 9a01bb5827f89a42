import { expect, it } from 'vitest';
import { fromFirst, markWords } from './mark-words.ts';

/** Returns the snippet with the marked words in brackets. */
const marked = (snippet: string, query: string) =>
  markWords(snippet, query)
    .map(({ text, found }) => (found ? `[${text}]` : text))
    .join('');

it.each([
  ['The needle lies', 'needle', 'The [needle] lies'],
  ['The needles lie', 'NEEDLE the', '[The] [needle]s lie'],
  ['kneedle', 'needle', 'kneedle'],
  ['Das Café öffnet', 'cafe offnet', 'Das [Café] [öffnet]'],
  ['src/app.ts:12', 'app.ts', 'src/[app].[ts]:12'],
  ['他们在北京', '北京', '他们在[北京]'],
  ['مرحبا بالعالم', 'بالعالم', 'مرحبا [بالعالم]'],
  ['🧵 needle 🧵', 'needle', '🧵 [needle] 🧵'],
  ['a (b) [c]', '(b', 'a ([b]) [c]'],
  ['nothing', '', 'nothing'],
  ['', 'x', ''],
])('in the text %j, the query %j marks the words in brackets: %j', (snippet, query, result) => {
  expect(marked(snippet, query)).toBe(result);
});

it.each([
  ['short needle', 'short [needle]'],
  [
    'a long way of many words before the needle lies here',
    '… many words before the [needle] lies here',
  ],
  [`${'x'.repeat(60)}/needle`, `… ${'x'.repeat(23)}/[needle]`],
  [
    'nothing is found in a text that is longer than that',
    'nothing is found in a text that is longer than that',
  ],
])('the line that is shown for %j begins shortly before the match', (snippet, line) => {
  const pieces = fromFirst(markWords(snippet, 'needle'));
  expect(pieces.map(({ text, found }) => (found ? `[${text}]` : text)).join('')).toBe(line);
});
