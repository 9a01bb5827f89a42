import { focusComposer } from '../composer/focus-composer.ts';
import css from './SkipLinks.module.css';
import { focusMain } from './use-focus-keeper.ts';

/**
 * Links that the Tab key reaches first. They skip the list of sessions, and are visible only while they have the focus.
 */
export function SkipLinks({ hasSession }: { hasSession: boolean }) {
  if (!hasSession) {
    return (
      <div className={css.links}>
        <button type="button" onClick={focusMain}>
          Skip to content
        </button>
      </div>
    );
  }
  return (
    <div className={css.links}>
      <button type="button" onClick={focusComposer}>
        Skip to message
      </button>
      <button type="button" onClick={focusConversation}>
        Skip to conversation
      </button>
    </div>
  );
}

function focusConversation(): void {
  const log = document.querySelector<HTMLElement>('main:not([style*="none"]) [role="log"]');
  if (log === null) return;
  log.tabIndex = -1;
  log.focus();
}
