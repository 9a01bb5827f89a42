// react-markdown, block by block, with remend for what is unfinished: the parts that streamdown is made of, at less
// than half its size and without raw HTML, remote images and Tailwind, which a page with a strict policy cannot use.
import { memo, useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import remend from 'remend';
import { CodeBlock } from './CodeBlock.tsx';
import css from './Markdown.module.css';
import { type Block, emptySplit, splitBlocks } from './split-blocks.ts';
import { TaskBox } from './TaskBox.tsx';

interface MarkdownProps {
  children: string;
  /** More is coming: what is unfinished at the end is drawn as what it will most likely be. */
  streaming?: boolean;
}

/** Markdown that can grow: blocks that are finished are not drawn again. */
export function Markdown({ children, streaming = false }: MarkdownProps) {
  const [split, setSplit] = useState(emptySplit);
  const next = splitBlocks(children, split);
  if (next !== split) setSplit(next);
  const { blocks } = next;
  return (
    <div className={css.markdown}>
      {blocks.map((block, index) => (
        <MarkdownBlock
          key={block.key}
          block={block}
          open={streaming && index === blocks.length - 1}
        />
      ))}
    </div>
  );
}

interface BlockProps {
  block: Block;
  open: boolean;
}

const MarkdownBlock = memo(
  function MarkdownBlock({ block, open }: BlockProps) {
    if (block.code !== undefined) {
      return (
        <CodeBlock code={block.code.text} lang={block.code.lang} open={open && block.code.open} />
      );
    }
    return (
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {open ? remend(block.raw, { linkMode: 'text-only', images: false }) : block.raw}
      </ReactMarkdown>
    );
  },
  (before, after) => before.block.raw === after.block.raw && before.open === after.open,
);

const plugins = [remarkGfm];

const components: Components = {
  input: ({ checked }) => <TaskBox checked={checked} />,
  // Opened beside the app, and told nothing about it.
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  // Images are not loaded: whoever wrote the text would learn that it was read, and from where.
  img: ({ src, alt }) =>
    typeof src === 'string' ? (
      <a href={src} target="_blank" rel="noopener noreferrer">
        Image: {alt || src}
      </a>
    ) : null,
  pre: ({ children }) => <pre className={css.pre}>{children}</pre>,
  table: ({ children }) => (
    // Focusable, because it scrolls sideways.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css.table} role="region" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};
