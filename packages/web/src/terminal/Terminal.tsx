import { ArrowDown, Check, Copy } from 'lucide-react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { Button, IconButton } from '../look/controls.tsx';
import { useCopy } from '../look/use-copy.ts';
import { useRemembered } from '../transcript/remembered.ts';
import { useStickToEnd } from '../transcript/use-stick-to-end.ts';
import { count } from '../words/amounts.ts';
import { plainText } from './plain-text.ts';
import { Screen } from './Screen.tsx';
import css from './Terminal.module.css';
import { TerminalText } from './terminal-text.ts';

interface TerminalProps {
  /** The program's whole output so far. */
  text: string;
  label: string;
  /** How the program ended; undefined while it runs. */
  outcome?: ReactNode;
}

/** The number of lines that are visible without scrolling. The styles contain the same number. */
const inSight = 14;

/** The number of lines that are rendered at first. A click shows more. */
const drawnAtFirst = 1_000;

/**
 * Shows a program's output. The terminal shows the end of the output, and follows new output while the reader is at the
 * end.
 */
export function Terminal({ text, label, outcome }: TerminalProps) {
  const terminal = useTerminal(text);
  const { lines, first } = withoutEmptyEdges(terminal.lines);
  const [drawn, setDrawn] = useRemembered('lines', drawnAtFirst);
  const [whole, setWhole] = useRemembered('whole', false);
  const { scroller, content, sticks, toEnd } = useStickToEnd();
  const { copied, copy } = useCopy();
  const hidden = Math.max(0, lines.length - drawn);

  return (
    <div className={css.terminal}>
      <div
        className={css.screen}
        ref={scroller}
        data-whole={whole}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- some browsers let no key reach an element that scrolls
        tabIndex={lines.length > inSight && !whole ? 0 : undefined}
      >
        {hidden > 0 ? (
          <Button look="quiet" className={css.earlier} onClick={() => setDrawn(Infinity)}>
            Show {count(hidden, 'earlier line')}
          </Button>
        ) : (
          terminal.forgotten > 0 && (
            <p className={css.left}>
              {count(terminal.forgotten, 'line')} before this are left out here. Copy has them.
            </p>
          )
        )}
        <div ref={content}>
          <pre className={css.text} aria-label={label}>
            <Screen lines={lines.slice(hidden)} first={terminal.forgotten + first + hidden} />
          </pre>
        </div>
      </div>
      <div className={css.foot}>
        {outcome}
        <span className={css.space} />
        {!sticks && (
          <Button look="quiet" onClick={toEnd}>
            <ArrowDown size={13} aria-hidden="true" />
            Jump to end
          </Button>
        )}
        {lines.length > inSight && (
          <Button look="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? 'Show less' : 'Show all'}
          </Button>
        )}
        <IconButton label={copied ? 'Copied' : 'Copy all'} onClick={() => copy(plainText(text))}>
          {copied ? <Check size={13} /> : <Copy size={13} />}
        </IconButton>
      </div>
    </div>
  );
}

/**
 * Returns the terminal state of a text. The state is kept between renderings, so that only added text is parsed. React
 * may call this hook several times with the same text, or with another text. If text arrives faster than it can be
 * rendered, some states are skipped.
 */
function useTerminal(text: string): TerminalText {
  const [terminal] = useState(() => new TerminalText());
  terminal.show(useDeferredValue(text));
  return terminal;
}

/**
 * Returns the lines without the empty lines at the beginning and at the end. The line after a final line break is such
 * an empty line.
 */
function withoutEmptyEdges(lines: TerminalText['lines']) {
  const first = Math.max(
    0,
    lines.findIndex(({ isBlank }) => !isBlank),
  );
  return { first, lines: lines.slice(first, lines.findLastIndex(({ isBlank }) => !isBlank) + 1) };
}
