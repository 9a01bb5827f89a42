import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { RewindResult } from '@liminal/protocol';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { shortPath } from '../words/paths.ts';
import css from './RewindDialog.module.css';
import { labelOf } from '../words/label.ts';

interface RewindDialogProps {
  sessionId: string;
  turnId: string;
  /** The project's. */
  folder: string | undefined;
  onClose: () => void;
}

/** The dialog while it is asked for, and what asks for it. */
export function useRewindDialog(
  sessionId: string,
  folder: string | undefined,
): [dialog: ReactNode, ask: (turnId: string) => void] {
  const [turnId, ask] = useState<string>();
  const about = { sessionId, turnId: turnId ?? '', folder };
  const dialog = turnId !== undefined && <RewindDialog {...about} onClose={() => ask(undefined)} />;
  return [dialog, ask];
}

/** Says which files would be changed back to before a turn, and does it when that is confirmed. */
function RewindDialog({ sessionId, turnId, folder, onClose }: RewindDialogProps) {
  const { requests } = useClient();
  const [plan, setPlan] = useState<RewindResult>();
  const [problem, setProblem] = useState<string>();
  const [isAtWork, setAtWork] = useState(false);

  useEffect(() => {
    let isShown = true;
    requests.rewind(sessionId, turnId, { dryRun: true }).then(
      (found) => isShown && setPlan(found),
      (error: unknown) => isShown && setProblem(describeError(error).message),
    );
    return () => void (isShown = false);
  }, [requests, sessionId, turnId]);

  const rewind = async () => {
    setAtWork(true);
    setProblem(undefined);
    try {
      await requests.rewind(sessionId, turnId);
      onClose();
    } catch (error) {
      setProblem(describeError(error).message);
      setAtWork(false);
    }
  };
  const count = plan?.files.length ?? 0;
  return (
    <Dialog title="Restore files to before this turn" onClose={onClose}>
      <div className={form.form}>
        {plan === undefined && problem === undefined && <p role="status">Checking files…</p>}
        {plan !== undefined && count === 0 && <p>Nothing to restore.</p>}
        {plan !== undefined && count > 0 && <Plan plan={plan} folder={folder} />}
        {problem !== undefined && (
          <p className={form.problem} role="alert">
            {problem}
          </p>
        )}
        <div className={form.actions}>
          <Button onClick={onClose} data-autofocus>
            {count > 0 ? 'Cancel' : 'Close'}
          </Button>
          {count > 0 && (
            <Button look="primary" disabled={isAtWork} onClick={() => void rewind()}>
              Restore {count === 1 ? '1 file' : `${count} files`}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Plan({ plan, folder }: { plan: RewindResult; folder: string | undefined }) {
  const { files, insertions, deletions } = plan;
  return (
    <>
      <p>
        {files.length === 1 ? '1 file' : `${files.length} files`} will be restored{' '}
        <span className={css.lines}>
          (+{insertions} −{deletions})
        </span>
        . New files are removed. Changes made by commands are not undone. The conversation stays.
      </p>
      {/* Focusable, because it scrolls where there are many. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css.files} role="region" aria-label="Files to be restored" tabIndex={0}>
        <ul>
          {files.map((path) => (
            <li key={path} title={labelOf(path)}>
              <bdi>{labelOf(shortPath(path, folder))}</bdi>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}
