import type { ComponentProps } from 'react';
import { useNavigation } from './navigation.tsx';
import { toAddress } from './tab-state.ts';

interface SessionLinkProps extends ComponentProps<'a'> {
  sessionId: string;
  /** The id of the item to which the link scrolls. */
  itemId?: string | undefined;
  /** The search query that found the item. */
  query?: string | undefined;
  onFollow?: (() => void) | undefined;
}

/**
 * A link to a session. The browser can open the link in another window. A click previews the session; a double click
 * keeps the session's tab.
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
