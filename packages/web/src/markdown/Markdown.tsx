// Uses react-markdown, block by block, and remend to complete an unfinished end. streamdown is made of the same parts,
// but is more than twice as large and brings raw HTML and Tailwind, which a page with a strict policy cannot use.
import { useCallback, useId, useMemo, useState, useEffect } from 'react';
import { Guard } from '../look/Guard.tsx';
import { PiecedText } from '../look/PiecedText.tsx';
import { PlainText } from '../transcript/PlainText.tsx';
import { Footnotes } from './Footnotes.tsx';
import { drawnLength, limits, stepEnd } from './limits.ts';
import css from './Markdown.module.css';
import { MarkdownBlock } from './MarkdownBlock.tsx';
import { referencesOf } from './references.ts';
import { emptySplit, splitBlocks } from './split-blocks.ts';

interface MarkdownProps {
  children: string;
  /** Whether more text is coming: an unfinished end is then rendered as if it were complete. */
  streaming?: boolean;
}

/** Markdown that can grow. Parts that are too large for the page, or cannot be rendered, are shown as plain text. */
export function Markdown({ children, streaming = false }: MarkdownProps) {
  const drawn = drawnLength(children);
  const read = useSteps(children.slice(0, drawn));
  const now = children.slice(0, read);
  // Text that is not parsed yet, but is already shown as plain text; the next step parses it.
  const next = children.slice(read, Math.min(drawn, read + limits.step));
  const beyond = children.slice(drawn);
  return (
    <Guard of={children} fallback={<PlainText text={children} why="it could not be drawn" />}>
      <Blocks streaming={streaming && read === children.length}>{now}</Blocks>
      {next !== '' && (
        <div className={css.next}>
          <PiecedText text={next} />
        </div>
      )}
      {beyond !== '' && <PlainText text={beyond} why="the message is too long" />}
    </Guard>
  );
}

/** Finished blocks are rendered again only when a definition that they refer to arrives. */
function Blocks({ children, streaming }: Required<MarkdownProps>) {
  const [split, setSplit] = useState(emptySplit);
  const next = splitBlocks(children, split);
  if (next !== split) setSplit(next);
  const { blocks } = next;
  const references = useMemo(() => referencesOf(blocks), [blocks]);
  const messageId = useId();
  const noteId = useCallback(
    (label: string) => `note-${messageId}-${label.slice(1).replaceAll(/\s/g, '-')}`,
    [messageId],
  );
  return (
    <div className={css.markdown}>
      {blocks.map((block, index) => (
        <MarkdownBlock
          key={block.key}
          block={block}
          open={streaming && index === blocks.length - 1}
          references={references}
          noteId={noteId}
        />
      ))}
      <Footnotes references={references} noteId={noteId} />
    </div>
  );
}

/** How many characters of a text are parsed now. The number grows in steps, so that the page stays responsive. */
function useSteps(text: string): number {
  const [reached, setReached] = useState(0);
  const next = Math.max(reached, stepEnd(text, reached));
  // Growth of up to one step is parsed at once.
  const to = reached === 0 || next >= text.length ? next : reached;
  if (to !== reached) setReached(to);
  const isBehind = to < text.length;
  useEffect(() => {
    if (!isBehind) return undefined;
    const timer = setTimeout(() => setReached(stepEnd(text, to)));
    return () => clearTimeout(timer);
    // Not restarted when the text grows, which would delay the next step.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [to, isBehind]);
  return Math.min(to, text.length);
}
