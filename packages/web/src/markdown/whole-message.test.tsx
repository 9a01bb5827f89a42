import { atLength } from '@liminal/testkit/at-length';
import fc from 'fast-check';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { describe, expect, it } from 'vitest';
import { components, transformUrl } from './elements.tsx';
import { Markdown } from './Markdown.tsx';
import { referencesOf, neededBy } from './references.ts';
import { rehypeDirection } from './rehype-direction.ts';
import { emptySplit, splitBlocks } from './split-blocks.ts';
import { remarkTex } from './tex-syntax.ts';

/** Renders a message block by block, as the page does. */
function byBlocks(text: string) {
  return parts(
    renderToStaticMarkup(<Markdown>{text}</Markdown>).replace(/^<div[^>]*>|<\/div>$/g, ''),
  );
}

/** Renders the whole message with react-markdown alone, without blocks. */
function whole(text: string) {
  const { sup: _, ...rest } = components;
  const html = renderToStaticMarkup(
    <ReactMarkdown
      remarkPlugins={[remarkGfm, remarkTex]}
      rehypePlugins={[rehypeDirection]}
      components={rest}
      urlTransform={transformUrl}
    >
      {text.replaceAll('\r\n', '\n')}
    </ReactMarkdown>,
  );
  return parts(html);
}

/** Returns the HTML above the footnotes, which contains the footnotes' numbers, and the texts of the footnotes. */
function parts(html: string) {
  const at = html.search(/<\w+[^>]*(?:data-footnotes|aria-label="Footnotes")/);
  const body = (at < 0 ? html : html.slice(0, at))
    .replaceAll(/<sup[^>]*>.*?(\d+)<.*?<\/sup>/gs, '<sup>$1</sup>')
    .replaceAll(/>\s+</g, '><')
    .trim();
  const items = at < 0 ? [] : html.slice(at).split('<li').slice(1);
  const notes = items.map((item) =>
    `<li${item}`
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/^\s*\d+\. |↩\s*\d*/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return { body, notes };
}

const piece = fc.constantFrom(
  'word ',
  '\n',
  '\n\n',
  '[text][ref] ',
  '[ref] ',
  '[Other  one][] ',
  '![shot][ref] ',
  'note[^1] ',
  'aside[^Long]',
  '[ref]: http://x.y/z "title"\n',
  '[REF]: http://second.one\n',
  '[other one]: <http://o.o>\n',
  '[^1]: First *note*.\n',
  '[^1]: First\n\n    goes on [ref].\n',
  '[^long]: Second[^1].\n',
  '> quoted [ref] and[^1]\n',
  '- item [ref]\n',
  '1. one[^long]\n',
  '    indented [ref]\n',
  '# Title [ref]\n',
  '```ts\n[ref]\n```\n',
  '`[ref]`',
  '| a | b[^1] |\n| - | - |\n',
  '---\n',
  '\\[ref]',
);

describe('a message rendered block by block', () => {
  it('wherever links and footnotes are defined, a message rendered block by block has the same HTML as when it is rendered at once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25, size: 'max' }), (pieces) => {
        const text = pieces.join('');
        const [ours, theirs] = [byBlocks(text), whole(text)];
        expect(ours.body).toBe(theirs.body);
        // Our page also shows the footnotes that are not used, after the used footnotes.
        expect(ours.notes.slice(0, theirs.notes.length)).toEqual(theirs.notes);
      }),
      { numRuns: atLength ? 400 : 100 },
    );
  });

  it('a block is rendered with only the definitions to which it refers', () => {
    const before = splitBlocks('See [a] and[^1].\n\nPlain.\n\n', emptySplit);
    const after = splitBlocks(
      'See [a] and[^1].\n\nPlain.\n\n[a]: http://a\n\n[^1]: Note.\n',
      before,
    );
    const told = (split: typeof before) =>
      split.blocks.map((block) => neededBy(block.labels, referencesOf(split.blocks)));
    expect(told(before)).toEqual(['', '']);
    const [first, plain] = told(after);
    expect(first).toContain('[a]: <http://a>');
    expect(first).not.toContain('Note');
    expect(plain).toBe('');
  });
});
