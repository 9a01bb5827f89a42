import type { ReactNode } from 'react';
import { Guard } from '../look/Guard.tsx';
import { PlainText } from './PlainText.tsx';

interface RowGuardProps {
  /** The item or items that are rendered. */
  of: unknown;
  children: ReactNode;
}

/** Shows a row as plain text if rendering the row fails, so that the other rows remain. */
export function RowGuard({ of, children }: RowGuardProps) {
  return (
    <Guard of={of} fallback={<Undrawn of={of} />}>
      {children}
    </Guard>
  );
}

function Undrawn({ of }: Pick<RowGuardProps, 'of'>) {
  return <PlainText text={itemText(of)} why="it could not be drawn" />;
}

/** Returns the text of an item, or, if it has no text, the whole item as JSON. */
function itemText(of: unknown): string {
  if (typeof of === 'object' && of !== null && 'content' in of && typeof of.content === 'string') {
    return of.content;
  }
  try {
    return JSON.stringify(of, null, 2);
  } catch {
    // If an item is nested too deeply for JSON, use the texts in its fields.
    const texts = Object.entries(of ?? {}).filter(([, value]) => typeof value === 'string');
    return texts.map(([name, value]) => `${name}: ${value}`).join('\n');
  }
}
