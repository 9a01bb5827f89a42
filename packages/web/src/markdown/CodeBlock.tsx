import { Check, Copy } from 'lucide-react';
import { Code } from '../highlight/Code.tsx';
import { IconButton } from '../look/controls.tsx';
import { useCopy } from '../look/use-copy.ts';
import css from './CodeBlock.module.css';

interface CodeBlockProps {
  code: string;
  lang: string;
  /** Its end has not arrived yet; colours wait until it has. */
  open: boolean;
}

export function CodeBlock({ code, lang, open }: CodeBlockProps) {
  const { copied, copy } = useCopy();
  return (
    <figure className={css.block}>
      <figcaption className={css.head}>
        <span>{lang || 'text'}</span>
        <IconButton
          className={css.copy}
          label={copied ? 'Copied' : 'Copy code'}
          onClick={() => copy(code)}
        >
          {copied ? <Check size={14} /> : <Copy size={14} />}
        </IconButton>
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways */}
      <pre className={css.pre} tabIndex={0} aria-label={`Code, ${lang || 'text'}`}>
        <Code code={code} lang={open ? '' : lang} />
      </pre>
    </figure>
  );
}
