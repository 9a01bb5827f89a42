import type { SessionStore, SessionView } from '@liminal/client';
import { describeError } from '@liminal/client';
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useNavigation } from '../app/navigation.tsx';
import type { ItemTarget } from '../app/tab-state.ts';
import { IconButton } from '../look/controls.tsx';
import { findItemId } from '../transcript/find-item.ts';
import { scrollToItem } from '../transcript/scroll-to-item.ts';
import css from './RevealedItem.module.css';

interface RevealedItemProps {
  view: SessionView;
  session: SessionStore;
}

/** The most older pages that are loaded to reach an item. They contain 20,000 items. */
const mostPages = 100;

/**
 * Scrolls to the item whose id is in the address. Loads the older pages up to this item, and shows the progress of
 * loading.
 */
export function RevealedItem({ view, session }: RevealedItemProps) {
  const { active, target } = useNavigation();
  const wanted = active === view.sessionId ? target : undefined;
  const [done, setDone] = useState<{ target: ItemTarget; problem?: string }>();
  const led = useRef<ItemTarget>(undefined);
  const loaded = useRef<{ target: ItemTarget; pages: number }>(undefined);

  useEffect(() => {
    if (wanted === undefined || done?.target === wanted) return;
    const itemId = findItemId(view.turns, wanted.id);
    if (itemId !== undefined) {
      if (led.current === wanted) return;
      led.current = wanted;
      void scrollToItem(view.sessionId, itemId, { query: wanted.query }).then(() =>
        setDone({ target: wanted }),
      );
      return;
    }
    if (loaded.current?.target !== wanted) loaded.current = { target: wanted, pages: 0 };
    if (!view.hasMore || loaded.current.pages >= mostPages) {
      setDone({ target: wanted, problem: view.hasMore ? tooFar : notThere });
      return;
    }
    loaded.current.pages += 1;
    session.loadOlder().catch((error: unknown) => {
      const { message } = describeError(error);
      setDone({ target: wanted, problem: `Older messages could not be loaded: ${message}` });
    });
  }, [done, session, view, wanted]);

  const isLooking = wanted !== undefined && done?.target !== wanted;
  const problem = wanted !== undefined && done?.target === wanted ? done.problem : undefined;
  return (
    <div className={css.place}>
      {isLooking && (
        <p className={css.notice} role="status">
          Loading…
        </p>
      )}
      {problem !== undefined && (
        <p className={css.notice} role="alert">
          {problem}
          <IconButton label="Close" onClick={() => setDone({ target: wanted ?? { id: '' } })}>
            <X size={14} />
          </IconButton>
        </p>
      )}
    </div>
  );
}

const notThere = 'This link’s target is not in this conversation.';
const tooFar = 'That message is too far back to jump to. Scroll up to read on from there.';
