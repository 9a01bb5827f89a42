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

/** A longer formula (characters) is shown as it was written. */
const longest = 10_000;

/** A formula in LaTeX, drawn; as it was written until it can be, and where it cannot be. */
export function Tex({ source, display = false }: TexProps) {
  const written = (
    <code className={display ? css.block : undefined} title="LaTeX">
      {source}
    </code>
  );
  if (source.trim() === '' || source.length > longest) return written;
  return (
    <Suspense fallback={written}>
      <Formula source={source} display={display} fallback={written} />
    </Suspense>
  );
}
