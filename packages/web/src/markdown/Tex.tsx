import { lazyRenderer } from './lazy-renderer.tsx';
import css from './Tex.module.css';

// The code of KaTeX is fetched with the first formula.
const Formula = lazyRenderer(() => import('./Formula.tsx'));

interface TexProps {
  source: string;
  /** Whether the formula is centred on a line of its own. */
  display?: boolean;
}

/** A formula with more characters than this is shown as source: each character becomes about ten elements. */
const longest = 2000;
/**
 * A formula with more characters than this may not define commands: KaTeX takes a minute for 300 uses of a command with
 * 500 characters.
 */
const longestOwn = 300;
const ownCommands = /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![A-Za-z])/;

/** Shows a rendered LaTeX formula. Shows the source until the formula is rendered, or if it cannot be rendered. */
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
