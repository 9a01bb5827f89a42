import { type ReactNode, useState } from 'react';
import { Code } from '../highlight/Code.tsx';
import { Button } from '../look/controls.tsx';
import { useRemembered } from '../transcript/remembered.ts';
import css from './CodeBlock.module.css';
import { CodeHead } from './CodeHead.tsx';
import { lazyRenderer } from './lazy-renderer.tsx';
import { labelOf } from '../words/label.ts';

// The code of Mermaid is fetched with the first diagram.
const Diagram = lazyRenderer(() => import('./Diagram.tsx'));

interface CodeBlockProps {
  code: string;
  lang: string;
  /** Whether the end of the code has not arrived yet. The code is coloured when its end has arrived. */
  open: boolean;
}

/** Code with more lines than this is folded, so that only its first lines are visible. */
const most = 60;
const visible = 20;

export function CodeBlock({ code, lang, open }: CodeBlockProps) {
  const [isSource, setSource] = useRemembered(`source ${code}`, false);
  if (lang !== 'mermaid' || open) return <CodeText code={code} lang={lang} open={open} />;
  const toggle = (
    <Button look="quiet" className={css.toggle} onClick={() => setSource(!isSource)}>
      {isSource ? 'Show diagram' : 'Show source'}
    </Button>
  );
  const text = <CodeText code={code} lang={lang} open={false} action={isSource && toggle} />;
  if (isSource) return text;
  return <Diagram code={code} fallback={text} action={toggle} />;
}

function CodeText({ code, lang, open, action }: CodeBlockProps & { action?: ReactNode }) {
  const { isFolded, lines, toggle } = useFold(code, open);
  const shown = isFolded ? lines.slice(0, visible).join('\n') : code;
  return (
    <figure className={css.block} dir="ltr">
      <CodeHead code={code} lang={lang} action={action} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways */}
      <pre className={css.pre} tabIndex={0} aria-label={`Code, ${labelOf(lang) || 'text'}`}>
        <Code code={shown} lang={open ? '' : lang} />
      </pre>
      {lines.length > most && !open && (
        <Button
          look="quiet"
          className={css.more}
          data-unshown={isFolded}
          aria-expanded={!isFolded}
          onClick={toggle}
        >
          {isFolded ? `Show all ${lines.length} lines` : 'Show less'}
        </Button>
      )}
    </figure>
  );
}

/**
 * Folds long code. Code that was still growing when it was first shown stays unfolded, because folding it would make
 * the page jump.
 */
function useFold(code: string, open: boolean) {
  const [chosen, setChosen] = useRemembered<boolean | undefined>(`code ${code}`, undefined);
  const [hasGrown, setGrown] = useState(open);
  if (open && !hasGrown) setGrown(true);
  const lines = code.split('\n');
  const isFolded = chosen ?? (lines.length > most && !hasGrown);
  return { isFolded, lines, toggle: () => setChosen(!isFolded) };
}
