import type { ComponentProps } from 'react';
import { useNavigation } from './navigation.tsx';
import { toAddress } from './places.ts';

interface SessionLinkProps extends ComponentProps<'a'> {
  sessionId: string;
  /** The item to show in it. */
  itemId?: string | undefined;
  /** The search that has found the item. */
  query?: string | undefined;
  onFollow?: (() => void) | undefined;
}

/**
 * A real link to a session, which can be opened in a window of its own. A click previews the session, a double click
 * keeps its tab.
 */
export function SessionLink(props: SessionLinkProps) {
  const { sessionId, itemId, query, onFollow, children, ...rest } = props;
  const { show, keep } = useNavigation();
  const target = itemId === undefined ? undefined : { id: itemId };
  return (
    <a
      {...rest}
      href={toAddress({ active: sessionId, target })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        show(sessionId, itemId, query);
        onFollow?.();
      }}
      onDoubleClick={() => keep(sessionId)}
    >
      {children}
    </a>
  );
}
