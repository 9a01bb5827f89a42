import 'katex/dist/katex.min.css';
import katex from 'katex';
import { type ReactNode, useMemo } from 'react';
import css from './Tex.module.css';

interface FormulaProps {
  source: string;
  display: boolean;
  /** The content that is shown if the formula has a mistake. */
  fallback: ReactNode;
}

/**
 * Shows a formula that KaTeX renders, with MathML for screen readers. The formula may contain no links, images or ids
 * (`trust`), and macro expansion is limited.
 */
export default function Formula({ source, display, fallback }: FormulaProps) {
  const html = useMemo(() => renderFormula(source, display), [source, display]);
  if (html === undefined) return fallback;
  return (
    <span
      className={display ? css.display : undefined}
      dir="ltr"
      // KaTeX escapes its input.
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}

function renderFormula(source: string, displayMode: boolean): string | undefined {
  try {
    const bounds = { trust: false, maxExpand: 300, maxSize: 30, strict: 'ignore' } as const;
    return katex.renderToString(source, { displayMode, throwOnError: true, ...bounds });
  } catch {
    return undefined;
  }
}
