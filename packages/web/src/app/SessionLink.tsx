import type { ComponentProps } from 'react';
import { useNavigation } from './navigation.tsx';
import { toAddress } from './places.ts';

interface SessionLinkProps extends ComponentProps<'a'> {
  sessionId: string;
  /** The item of it to show. */
  itemId?: string | undefined;
  onFollow?: (() => void) | undefined;
}

/**
 * A link to a session: a real one, which can be opened in a window of its own. A click looks into it, a double click
 * keeps its tab.
 */
export function SessionLink({ sessionId, itemId, onFollow, children, ...rest }: SessionLinkProps) {
  const { show, keep } = useNavigation();
  const target = itemId === undefined ? undefined : { id: itemId };
  return (
    <a
      {...rest}
      href={toAddress({ active: sessionId, target })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        show(sessionId, itemId);
        onFollow?.();
      }}
      onDoubleClick={() => keep(sessionId)}
    >
      {children}
    </a>
  );
}
