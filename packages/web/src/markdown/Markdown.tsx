// This component uses react-markdown, block by block, and remend, which completes an unfinished end. streamdown uses
// the same packages, but is more than twice as large, and needs raw HTML and Tailwind, which a page with a strict
// policy cannot use.
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
  /** Whether more text is still to come. An unfinished end is then rendered as if it were complete. */
  streaming?: boolean;
}

/**
 * Shows Markdown that can grow. If a part of the text is too large for the page or cannot be rendered, that part is
 * shown as plain text.
 */
export function Markdown({ children, streaming = false }: MarkdownProps) {
  const drawn = drawnLength(children);
  const read = useSteps(children.slice(0, drawn));
  const now = children.slice(0, read);
  // This text is not parsed yet, but is already shown as plain text. The next step parses it.
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

/**
 * Shows the blocks of a message. A finished block is rendered again only when a definition arrives to which the block
 * refers.
 */
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

/**
 * Returns how many characters of a text are parsed now. The number grows in steps, so that the page stays responsive.
 */
function useSteps(text: string): number {
  const [reached, setReached] = useState(0);
  const next = Math.max(reached, stepEnd(text, reached));
  // If the text grows by at most one step, the new text is parsed at once.
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
