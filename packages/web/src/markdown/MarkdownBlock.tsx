import { memo, useMemo } from 'react';
import ReactMarkdown from 'react-markdown';
import remend from 'remend';
import { BlockContext } from './block-context.ts';
import { PlainText } from '../transcript/PlainText.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import { components, transformUrl } from './elements.tsx';
import { neededBy, type References } from './references.ts';
import { rehypeDirection } from './rehype-direction.ts';
import { remarkPlugins } from './plugins.ts';
import { remarkNote } from './remark-page.ts';
import type { Block } from './block.ts';

const notePlugins = [...remarkPlugins, remarkNote];
const rehypePlugins = [rehypeDirection];

interface MarkdownBlockProps {
  block: Pick<Block, 'raw' | 'code' | 'plain' | 'labels'>;
  /** Whether more text of the block is still to come. */
  open: boolean;
  references: References;
  /** Whether the block is the definition of a footnote, whose content must be rendered. */
  isNote?: boolean;
  noteId: (label: string) => string;
}

/**
 * Shows a block, together with the definitions to which it refers. The block is rendered again only when the block or
 * these definitions change.
 */
export function MarkdownBlock(props: MarkdownBlockProps) {
  const { block, open, references, noteId, isNote = false } = props;
  const { raw, code, plain } = block;
  if (plain !== undefined) return <PlainText text={raw} why={plain} />;
  if (code !== undefined) {
    return <CodeBlock code={code.text} lang={code.lang} open={open && code.open} />;
  }
  const numbers = references.footnotes
    .filter(({ label }) => block.labels.has(label))
    .map(({ label, number }) => `${number} ${label}`);
  return (
    <BlockText
      raw={raw}
      open={open}
      definitions={neededBy(block.labels, references)}
      numbers={numbers.join('\n')}
      noteId={noteId}
      isNote={isNote}
    />
  );
}

interface BlockTextProps {
  raw: string;
  open: boolean;
  /** The Markdown of the definitions. It is parsed in front of the block's Markdown. */
  definitions: string;
  /**
   * A line for each footnote, with the footnote's number and label. All lines are one string, because strings are
   * compared by value.
   */
  numbers: string;
  noteId: (label: string) => string;
  isNote: boolean;
}

const BlockText = memo(function BlockText(props: BlockTextProps) {
  const { raw, open, definitions, numbers, noteId, isNote } = props;
  const own = open ? remend(raw, { linkMode: 'text-only', images: false }) : raw;
  const growsAt = open ? definitions.length + own.trimEnd().length : undefined;
  const place = useMemo(
    () => ({ growsAt, numbers: readNumbers(numbers), noteId }),
    [growsAt, numbers, noteId],
  );
  return (
    <BlockContext value={place}>
      <ReactMarkdown
        remarkPlugins={isNote ? notePlugins : remarkPlugins}
        rehypePlugins={rehypePlugins}
        components={components}
        urlTransform={transformUrl}
      >
        {definitions + own}
      </ReactMarkdown>
    </BlockContext>
  );
});

function readNumbers(lines: string): Map<string, number> {
  if (lines === '') return new Map();
  return new Map(
    lines.split('\n').map((line) => {
      const [number = ''] = line.split(' ', 1);
      return [line.slice(number.length + 1), Number(number)];
    }),
  );
}
