import { type ReactNode, useState } from 'react';
import { Button } from '../look/controls.tsx';

interface InPiecesProps<T> {
  of: readonly T[];
  /** The number of entries that are shown at a time, so that the page stays responsive. */
  most: number;
  /** The plural name of the entries. */
  name: string;
  children: (one: T, index: number) => ReactNode;
}

/**
 * Shows a long list step by step. The button that shows more entries has the attribute `data-to-see`: nothing can be
 * allowed while the button is there.
 */
export function InPieces<T>({ of, most, name, children }: InPiecesProps<T>) {
  const [count, setCount] = useState(most);
  const hidden = of.length - count;
  return (
    <>
      {of.slice(0, count).map((one, index) => children(one, index))}
      {hidden > 0 && (
        <Button look="quiet" data-unshown="true" onClick={() => setCount(count + most)}>
          Show {Math.min(hidden, most)} more {name} of {hidden}
        </Button>
      )}
    </>
  );
}
