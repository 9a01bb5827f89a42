import type { ComponentProps } from 'react';
import { Button } from '../look/controls.tsx';
import css from './LongText.module.css';
import { useRemembered } from './remembered.ts';

interface LongTextProps extends ComponentProps<'div'> {
  text: string;
  label?: string;
}

/** More lines than this are folded. */
const visibleLines = 20;

/** Text as a terminal has it, folded when it is long. */
export function LongText({ text, label, ...rest }: LongTextProps) {
  const [open, setOpen] = useRemembered(`text ${label ?? ''}`, false);
  const lines = text.replace(/^(?:[ \t]*\n)+|\s+$/g, '').split('\n');
  const hidden = lines.length - visibleLines;
  const shown = open || hidden <= 0 ? lines : lines.slice(0, visibleLines);
  return (
    <div {...rest}>
      <pre className={css.text} aria-label={label}>
        {shown.join('\n')}
      </pre>
      {hidden > 0 && (
        <Button
          look="quiet"
          className={css.more}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Show less' : `Show ${hidden} more lines`}
        </Button>
      )}
    </div>
  );
}
