import { Button } from '../look/controls.tsx';
import spoken from '../look/spoken.module.css';
import page from './SessionPage.module.css';
import css from './SessionStates.module.css';

/** The content that is shown while the code of a session's page is being fetched. */
export function SessionComing() {
  return (
    <main className={page.page} aria-label="Session">
      <h1 className={spoken.only}>Session</h1>
      <SessionLoading />
    </main>
  );
}

/** Shows the outline of a conversation and its composer while the session is being loaded. */
export function SessionLoading() {
  return (
    <>
      <div className={css.loading} role="status" aria-label="Loading the conversation">
        <span className={css.bar} data-side="end" />
        <span className={css.bar} />
        <span className={css.bar} />
        <span className={css.bar} data-short="true" />
      </div>
      <div className={css.dock} aria-hidden="true">
        <div className={css.composer} />
      </div>
    </>
  );
}

interface SessionFailedProps {
  problem: { code: string; message: string } | undefined;
  onRetry: () => void;
  onClose: () => void;
}

export function SessionFailed({ problem, onRetry, onClose }: SessionFailedProps) {
  return (
    <div className={css.failed} role="alert">
      <h2>This session could not be opened</h2>
      <p>{problem?.message ?? 'The server gave no reason.'}</p>
      {problem !== undefined && <code>{problem.code}</code>}
      <div className={css.actions}>
        <Button onClick={onRetry}>Try again</Button>
        <Button look="quiet" onClick={onClose}>
          Close tab
        </Button>
      </div>
    </div>
  );
}
