import { Suspense } from 'react';
import { fetched } from './fetched.tsx';
import css from './Tex.module.css';

// KaTeX comes with the first formula.
const Formula = fetched(() => import('./Formula.tsx'));

interface TexProps {
  source: string;
  /** Stands by itself, in the middle of its line. */
  display?: boolean;
}

/** A longer formula (characters) is shown as it was written: each character is some ten elements. */
const longest = 2000;
/** What is longer may not name its own commands: 300 uses of one with 500 characters take KaTeX a minute. */
const longestOwn = 300;
const ownCommands = /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])/;

/** A formula in LaTeX, drawn; as it was written until it can be, and where it cannot be. */
export function Tex({ source, display = false }: TexProps) {
  const written = (
    <code className={display ? css.block : undefined} title="LaTeX">
      {source}
    </code>
  );
  const most = ownCommands.test(source) ? longestOwn : longest;
  if (source.trim() === '' || source.length > most) return written;
  return (
    <Suspense fallback={written}>
      <Formula source={source} display={display} fallback={written} />
    </Suspense>
  );
}
