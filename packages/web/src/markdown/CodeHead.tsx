import { Check, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../look/controls.tsx';
import { useCopy } from '../look/use-copy.ts';
import css from './CodeBlock.module.css';

interface CodeHeadProps {
  code: string;
  lang: string;
  action?: ReactNode;
}

/** Shows the code's language, and a button that copies the code. */
export function CodeHead({ code, lang, action }: CodeHeadProps) {
  const { copied, copy } = useCopy();
  return (
    <figcaption className={css.head}>
      <span className={css.lang}>{lang || 'text'}</span>
      {action}
      <IconButton
        className={css.copy}
        label={copied ? 'Copied' : 'Copy code'}
        onClick={() => copy(code)}
      >
        {copied ? <Check size={14} /> : <Copy size={14} />}
      </IconButton>
    </figcaption>
  );
}
