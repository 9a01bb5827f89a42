import { cpuMsOf } from '@liminal/testkit/cpu-time';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { htmlText } from './html-text.ts';

test('a page is converted to its text', () => {
  const page = `<!doctype html><html><head><title>A &amp; B</title><style>p { }</style></head><body>
    <script>if (a < b) alert("<p>no</p>")</script>
    <h2>Head  line</h2><p>One <b>bold</b>
    word &lt;tag&gt;.</p><ul><li>first<li><a href="https://example.com/x">link</a></ul>
    <a href="javascript:evil()">bad</a><img alt="A picture" src=x>
    <pre>  kept
    as is</pre></body></html>`;
  expect(htmlText(page).text).toBe(
    [
      'A & B',
      '',
      '## Head line',
      '',
      'One bold word <tag>.',
      '',
      '- first',
      '',
      '- link (https://example.com/x)',
      '',
      'bad[A picture]',
      'kept',
      'as is',
    ].join('\n'),
  );
});

test('all text for people is kept, and no other text, in any surrounding markup', () => {
  const piece = fc.constantFrom(
    '<p>seen</p>',
    '<b>seen',
    '</i>seen',
    '<div title="unseen">seen',
    '<li>seen<tr>',
    '<script>unknown("<b>")</script>',
    '<style>unknown</style>',
    '<!-- unknown -->',
    '<svg><text>unknown</text></svg>',
    '<noscript>unknown</noscript>',
    '<head><title>unknown</title>',
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const { text } = htmlText(`<title></title>${pieces.join('')}`);
      const count = (all: string, part: string): number => all.split(part).length - 1;
      const wanted = pieces.filter((one) => one.includes('seen')).length;
      const titles = Number(pieces.some((one) => one.includes('<title>')));
      return count(text, 'seen') === wanted && count(text, 'unknown') === titles;
    }),
  );
});

test('deeply nested markup takes little time', () => {
  expect(htmlText(`${'<div>'.repeat(499)}deep`)).toEqual({ text: 'deep', isCut: false });
  // Parsing the whole page would take minutes.
  expect(cpuMsOf(() => htmlText('<div>x'.repeat(500_000)))).toBeLessThan(5_000);
});

test('if a page has more text than a model gets, only the beginning is returned', () => {
  const page = htmlText(`<title>${'t'.repeat(5_000)}</title>${'<p>word'.repeat(500_000)}`);
  expect(page.isCut).toBe(true);
  expect(page.text.length).toBeGreaterThan(500_000);
  expect(page.text.length).toBeLessThan(1_100_000);
});
