import { Check, Copy } from 'lucide-react';
import { type ComponentProps, Fragment } from 'react';
import css from './Advice.module.css';
import { Linked } from './LinkedText.tsx';
import { ShownText } from './ShownText.tsx';
import { useCopy } from './use-copy.ts';

interface AdviceProps extends ComponentProps<'p'> {
  text: string;
  /** Whether commands have a button that copies them. Must be false inside a label. */
  canCopy?: boolean;
}

/** Shows advice about a missing program or setting. A command or name between backticks is shown as code. */
export function Advice({ text, canCopy = true, ...rest }: AdviceProps) {
  const parts = text.split('`');
  // A backtick that is not followed by a second backtick is text.
  const isPaired = parts.length % 2 === 1;
  if (!isPaired) parts.splice(-2, 2, parts.slice(-2).join('`'));
  return (
    <p {...rest}>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index % 2 === 0 ? <Linked text={part} /> : <Code text={part} canCopy={canCopy} />}
        </Fragment>
      ))}
    </p>
  );
}

/** Shows a name, or a command that can be copied. */
function Code({ text, canCopy }: { text: string; canCopy: boolean }) {
  const { copied, copy } = useCopy();
  const isCommand = !/^[A-Z][A-Z0-9_]*$/.test(text);
  return (
    <>
      <code className={css.code}>
        <ShownText text={text} />
      </code>
      {canCopy && isCommand && (
        <button
          type="button"
          className={css.copy}
          aria-label={copied ? 'Copied' : 'Copy command'}
          title={copied ? 'Copied' : 'Copy command'}
          onClick={() => copy(text)}
        >
          {copied ? <Check size={13} /> : <Copy size={13} />}
        </button>
      )}
    </>
  );
}
