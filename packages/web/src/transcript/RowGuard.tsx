import type { ReactNode } from 'react';
import { Guard } from '../look/Guard.tsx';
import { PlainText } from './PlainText.tsx';

interface RowGuardProps {
  /** The item, or the items, that are drawn. */
  of: unknown;
  children: ReactNode;
}

/** A row that cannot be drawn is shown as plain text, and the other rows as ever. */
export function RowGuard({ of, children }: RowGuardProps) {
  return (
    <Guard of={of} fallback={<Undrawn of={of} />}>
      {children}
    </Guard>
  );
}

function Undrawn({ of }: Pick<RowGuardProps, 'of'>) {
  return <PlainText text={textOf(of)} why="it could not be drawn" />;
}

/** The words of an item; all of it where it has none, since what is wrong with it is not known. */
function textOf(of: unknown): string {
  if (typeof of === 'object' && of !== null && 'content' in of && typeof of.content === 'string') {
    return of.content;
  }
  try {
    return JSON.stringify(of, null, 2);
  } catch {
    // What is too deep to be written out has words beside that.
    const texts = Object.entries(of ?? {}).filter(([, value]) => typeof value === 'string');
    return texts.map(([name, value]) => `${name}: ${value}`).join('\n');
  }
}
