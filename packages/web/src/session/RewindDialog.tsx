import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { type ContentBlock, type RewindResult, RewindScope } from '@liminal/protocol';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useAgent } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { shortPath } from '../words/paths.ts';
import css from './RewindDialog.module.css';
import { labelOf } from '../words/label.ts';

interface Rewind {
  turnId: string;
  /** The scope that was requested; the person may choose another scope. */
  scope: RewindScope;
}

interface RewindDialogProps {
  sessionId: string;
  asked: Rewind;
  cliType: string | undefined;
  /** The project's folder. */
  folder: string | undefined;
  onTakenBack: (message: string, blocks?: readonly ContentBlock[]) => void;
  onClose: () => void;
}

/** Returns the dialog while it is open, and a function that opens it. */
export function useRewindDialog(
  about: Omit<RewindDialogProps, 'asked' | 'onClose'>,
): [dialog: ReactNode, ask: (turnId: string, scope: RewindScope) => void] {
  const [asked, setAsked] = useState<Rewind>();
  const ask = useCallback(
    (turnId: string, scope: RewindScope) => setAsked({ turnId, scope }),
    [setAsked],
  );
  const dialog = asked && (
    <RewindDialog {...about} asked={asked} onClose={() => setAsked(undefined)} />
  );
  return [dialog, ask];
}

const titles = {
  files: 'Restore files to before this turn',
  conversation: 'Edit and send again',
  both: 'Edit and send again',
} satisfies Record<RewindScope, string>;

/** Shows which changes rewinding to the state before a turn would make, and rewinds when the person confirms. */
function RewindDialog(props: RewindDialogProps) {
  const { sessionId, asked, cliType, folder, onTakenBack, onClose } = props;
  const agent = useAgent(cliType);
  const { turnId } = asked;
  const { requests } = useClient();
  const [scope, setScope] = useState(asked.scope);
  const [found, setFound] = useState<{ scope: RewindScope; plan?: RewindResult }>();
  const [problem, setProblem] = useState<string>();
  const [isAtWork, setAtWork] = useState(false);
  const plan = found?.scope === scope ? found.plan : undefined;

  useEffect(() => {
    let isShown = true;
    requests.rewind(sessionId, turnId, { ...scopeOf(scope), dryRun: true }).then(
      (result) => isShown && setFound({ scope, plan: result }),
      (error: unknown) => isShown && setProblem(describeError(error).message),
    );
    return () => void (isShown = false);
  }, [requests, scope, sessionId, turnId]);

  const rewind = async () => {
    setAtWork(true);
    setProblem(undefined);
    try {
      const { takenBack } = await requests.rewind(sessionId, turnId, scopeOf(scope));
      // Close the dialog first, because the composer cannot receive the focus while the dialog is open.
      flushSync(onClose);
      if (takenBack) onTakenBack(takenBack.message, takenBack.blocks);
    } catch (error) {
      setProblem(describeError(error).message);
      setAtWork(false);
    }
  };
  const canChoose = agent?.rewinds === true && agent.rewindsConversation === true;
  const button = plan && confirmation(plan);
  return (
    <Dialog title={titles[asked.scope]} onClose={onClose}>
      <div className={form.form}>
        {canChoose && (
          <label className={form.field}>
            <span className={form.label}>What goes back</span>
            <select
              className={form.input}
              value={scope}
              onChange={(event) => {
                setProblem(undefined);
                setScope(RewindScope.parse(event.target.value));
              }}
            >
              <option value="conversation">The conversation</option>
              <option value="both">The conversation and files</option>
              <option value="files">Files</option>
            </select>
          </label>
        )}
        {plan === undefined && problem === undefined && (
          <p role="status">{scope === 'conversation' ? 'Checking…' : 'Checking files…'}</p>
        )}
        {plan?.takenBack && <Turns count={plan.takenBack.turnIds.length} />}
        {plan !== undefined && plan.files.length > 0 && <Plan plan={plan} folder={folder} />}
        {plan !== undefined && scope !== 'conversation' && plan.files.length === 0 && (
          <p>{scope === 'both' ? 'No files differ.' : 'Nothing to restore.'}</p>
        )}
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button onClick={onClose} data-autofocus>
            {button === undefined ? 'Close' : 'Cancel'}
          </Button>
          {button !== undefined && (
            <Button look="primary" disabled={isAtWork} onClick={() => void rewind()}>
              {button}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

/** Returns the scope as a field of the request; empty for the default, `files`. */
const scopeOf = (scope: RewindScope) => (scope === 'files' ? {} : { scope });

const counted = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${count} ${what}s`;

/** Returns the text of the confirm button; undefined if rewinding would change nothing. */
function confirmation({ takenBack, files }: RewindResult): string | undefined {
  const turns = takenBack && `Take back ${counted(takenBack.turnIds.length, 'turn')}`;
  if (files.length === 0) return turns;
  const restored = counted(files.length, 'file');
  return turns === undefined ? `Restore ${restored}` : `${turns}, restore ${restored}`;
}

function Turns({ count }: { count: number }) {
  return (
    <p>
      {count === 1 ? 'This turn is' : `This turn and ${counted(count - 1, 'later one')} are`} taken
      back: the agent forgets {count === 1 ? 'it' : 'them'}. The turns stay here, folded. Your
      message returns to the message field.
    </p>
  );
}

function Plan({ plan, folder }: { plan: RewindResult; folder: string | undefined }) {
  const { files, insertions, deletions } = plan;
  return (
    <>
      <p>
        {counted(files.length, 'file')} will be restored{' '}
        <span className={css.lines}>
          (+{insertions} −{deletions})
        </span>
        . New files are removed. Changes made by commands are not undone.
        {plan.takenBack === undefined && ' The conversation stays.'}
      </p>
      {/* The list can have the focus, because a long list scrolls. */}
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
