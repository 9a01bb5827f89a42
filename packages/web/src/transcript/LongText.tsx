import { headOf } from '@liminal/protocol';
import type { ComponentProps } from 'react';
import { Button } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import css from './LongText.module.css';
import { useRemembered } from './remembered.ts';

interface LongTextProps extends ComponentProps<'div'> {
  text: string;
  label?: string;
  /** The name under which the shown length is remembered. */
  name?: string;
  /** Whether a person must see the whole text. Then only text that is too long to be laid out at once is folded. */
  mustShowAll?: boolean;
}

/** The limits in lines and characters. A longer text is folded. */
const visible = { lines: 20, characters: 4000 };
/** The number of characters that are laid out at a time. The next click adds more. */
const most = 200_000;

/** Shows preformatted text. A long text is folded. */
export function LongText({
  text,
  label,
  name = `text ${label ?? ''}`,
  mustShowAll = false,
  ...rest
}: LongTextProps) {
  const [shownTo, setShownTo] = useRemembered(name, 0);
  const all = withoutBlankEnds(text);
  const folded = mustShowAll ? headOf(all, most) : headOf(firstLines(all), visible.characters);
  const shown = headOf(all, Math.max(folded.length, shownTo));
  const isOpen = shownTo > 0;
  const hidden = all.length - shown.length;
  return (
    <div {...rest}>
      <pre className={css.text} aria-label={label} dir={label === 'Command' ? 'ltr' : undefined}>
        <ShownText text={shown} />
      </pre>
      {hidden > 0 && (
        <Button
          look="quiet"
          className={css.more}
          data-unshown="true"
          aria-expanded={isOpen}
          onClick={() => setShownTo(shown.length + most)}
        >
          {wordsFor(all.slice(shown.length))}
        </Button>
      )}
      {isOpen && hidden <= 0 && (
        <Button look="quiet" className={css.more} aria-expanded onClick={() => setShownTo(0)}>
          Show less
        </Button>
      )}
    </div>
  );
}

function wordsFor(hidden: string): string {
  const lines = hidden.split('\n').length - 1;
  if (lines > 0 && hidden.startsWith('\n')) return `Show ${lines} more lines`;
  return `Show ${hidden.length.toLocaleString('en')} more characters`;
}

/** Removes blank lines at the start and spaces at the end. */
function withoutBlankEnds(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

function firstLines(text: string): string {
  let end = -1;
  for (let line = 0; line < visible.lines; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}
