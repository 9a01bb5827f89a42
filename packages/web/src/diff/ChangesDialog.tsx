import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import {
  type ChangedFile,
  changedFileNotes,
  type SessionDiff,
  sessionDiffNotes,
  type SessionSummary,
} from '@liminal/protocol';
import { ChevronRight } from 'lucide-react';
import { useCallback, useEffect, useId, useMemo, useState } from 'react';
import { Disclosure } from '../look/Disclosure.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { LineCount } from './ChangeCount.tsx';
import css from './ChangesDialog.module.css';
import { DiffLines } from './DiffView.tsx';
import { hunksDiff } from './line-diff.ts';

interface ChangesDialogProps {
  session: SessionSummary;
  onClose: () => void;
}

/** If there are more files than this, all of them are closed at first. */
const openMax = 8;

/** Shows how a session's work tree differs from its last commit: the changed files, and the lines of each. */
export default function ChangesDialog({ session, onClose }: ChangesDialogProps) {
  const { diff, problem, isReading, read } = useDiff(session.sessionId);
  const files = diff?.files ?? [];
  return (
    <Dialog title="Changes" look="wide" onClose={onClose}>
      <div className={`${form.form} ${css.changes}`}>
        {diff === undefined && problem === undefined && <p role="status">Comparing files…</p>}
        {diff !== undefined && (
          <div className={css.notes}>
            {sessionDiffNotes(diff).map((note) => (
              <p key={note}>
                <ShownText text={note} />
              </p>
            ))}
          </div>
        )}
        {files.length > 0 && (
          <ul className={css.files} aria-label="Changed files">
            {files.map((file, index) => (
              <File key={`${index} ${file.path}`} file={file} isOpen={files.length <= openMax} />
            ))}
          </ul>
        )}
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button disabled={isReading} onClick={read}>
            Compare again
          </Button>
          <Button data-autofocus onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Returns the session's changes as they were last read, and a function that reads them again. */
function useDiff(sessionId: string) {
  const { requests } = useClient();
  const [diff, setDiff] = useState<SessionDiff>();
  const [problem, setProblem] = useState<string>();
  const [asked, setAsked] = useState(0);
  const [answered, setAnswered] = useState(-1);
  useEffect(() => {
    let isWanted = true;
    const end = () => isWanted && setAnswered(asked);
    requests
      .diff(sessionId)
      .then(
        (found) => {
          if (!isWanted) return;
          setDiff(found);
          setProblem(undefined);
        },
        (error: unknown) => isWanted && setProblem(describeError(error).message),
      )
      .finally(end);
    return () => void (isWanted = false);
  }, [asked, requests, sessionId]);
  const read = useCallback(() => setAsked((times) => times + 1), []);
  return { diff, problem, isReading: answered < asked, read };
}

const words: Record<ChangedFile['change'], string> = {
  added: 'Added',
  modified: 'Changed',
  deleted: 'Deleted',
  renamed: 'Renamed',
  untracked: 'New',
};

function File({ file, isOpen }: { file: ChangedFile; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen);
  const diff = useMemo(() => hunksDiff(file), [file]);
  const id = useId();
  return (
    <li className={css.file}>
      <Disclosure className={css.head} isOpen={open} onToggle={() => setOpen(!open)} contentId={id}>
        <ChevronRight size={14} className={css.chevron} aria-hidden="true" />
        <span className={css.change}>{words[file.change]}</span>
        <span className={css.path}>
          <ShownText text={file.path} />
        </span>
        {file.added !== undefined && <LineCount added={file.added} removed={file.removed ?? 0} />}
      </Disclosure>
      {open && (
        <div id={id}>
          {changedFileNotes(file).map((note) => (
            <p key={note} className={css.note}>
              <ShownText text={note} />
            </p>
          ))}
          {diff.lines.length > 0 && <DiffLines diff={diff} />}
        </div>
      )}
    </li>
  );
}
