import { drawer } from './drawer.tsx';
import css from './Tex.module.css';

// KaTeX comes with the first formula.
const Formula = drawer(() => import('./Formula.tsx'));

interface TexProps {
  source: string;
  /** Whether it is centred on a line of its own. */
  display?: boolean;
}

/** Longer formulas (characters) are shown as source: each character is some ten elements. */
const longest = 2000;
/** Longer formulas may not define commands: 300 uses of one with 500 characters take KaTeX a minute. */
const longestOwn = 300;
const ownCommands = /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])/;

/** A rendered LaTeX formula; its source until it can be rendered, and if it cannot be. */
export function Tex({ source, display = false }: TexProps) {
  const written = (
    <code className={display ? css.block : undefined} title="LaTeX">
      {source}
    </code>
  );
  const most = ownCommands.test(source) ? longestOwn : longest;
  if (source.trim() === '' || source.length > most) return written;
  return <Formula source={source} display={display} fallback={written} />;
}
