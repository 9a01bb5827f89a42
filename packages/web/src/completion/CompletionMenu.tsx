import { type ReactNode, useEffect, useRef } from 'react';
import css from './CompletionMenu.module.css';
import type { Completion } from './use-completion.ts';

interface CompletionMenuProps<T> {
  completion: Completion<T>;
  name: string;
  /** Returns the content and the React key of an option. */
  show: (match: T) => { key: string; content: ReactNode };
  /** A note below the options, or in place of the options if there are none. */
  note?: ReactNode;
}

/** Lists completions above the composer. The focus stays in the text field; Enter takes the selected option. */
export function CompletionMenu<T>({ completion, name, show, note }: CompletionMenuProps<T>) {
  const { id, matches, active, pick } = completion;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div className={css.menu}>
      {matches.length > 0 && (
        <div className={css.list} id={id} role="listbox" aria-label={name} ref={list}>
          {matches.map((match, index) => {
            const { key, content } = show(match);
            return (
              // The text field handles the keys.
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={key}
                id={`${id}-${index}`}
                className={css.option}
                role="option"
                aria-selected={index === active}
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => pick(match, 'press')}
              >
                {content}
              </div>
            );
          })}
        </div>
      )}
      {note !== undefined && (
        <p className={css.note} role="status">
          {note}
        </p>
      )}
    </div>
  );
}
