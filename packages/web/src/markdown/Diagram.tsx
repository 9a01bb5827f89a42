import { type ReactNode, useEffect, useState } from 'react';
import { useMediaQuery } from '../look/use-media-query.ts';
import css from './CodeBlock.module.css';
import { CodeHead } from './CodeHead.tsx';
import { drawDiagram } from './draw-diagram.ts';
import { labelOf } from '../words/label.ts';

interface DiagramProps {
  code: string;
  /** The content that is shown until the diagram is drawn, or if it cannot be drawn. */
  fallback: ReactNode;
  action: ReactNode;
}

type Drawing = { of: string } & ({ src: string } | { failed: true });

/**
 * Shows a diagram as an image. Whatever the diagram contains, an image runs no script, loads nothing and has no links.
 */
export default function Diagram({ code, fallback, action }: DiagramProps) {
  const isDark = useMediaQuery('(prefers-color-scheme: dark)');
  const of = `${isDark} ${code}`;
  const [drawing, setDrawing] = useState<Drawing>();
  useEffect(() => {
    let wanted = true;
    const show = (next: Drawing) => {
      if (wanted) setDrawing(next);
    };
    drawDiagram(code, isDark).then(
      (src) => show({ of, src }),
      () => show({ of, failed: true }),
    );
    return () => {
      wanted = false;
    };
  }, [code, isDark, of]);

  if (drawing === undefined || !('src' in drawing)) {
    return (
      <>
        {fallback}
        {drawing !== undefined && drawing.of === of && (
          <p className={css.note}>This diagram could not be drawn, so its source is shown.</p>
        )}
      </>
    );
  }
  return (
    <figure className={css.block} dir="ltr">
      <CodeHead code={code} lang="mermaid" action={action} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <div className={css.drawing} role="group" aria-label="Diagram" tabIndex={0}>
        <img src={drawing.src} alt={`Diagram: ${labelOf(code)}`} />
      </div>
    </figure>
  );
}
