import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { SessionSummary } from '@liminal/protocol';
import { useState } from 'react';
import { useAgentName } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { labelOf } from '../words/label.ts';
import css from './DeleteDialog.module.css';

interface DeleteDialogProps {
  session: SessionSummary;
  /** Called when the server has deleted the session. */
  onDeleted: (sessionId: string) => void;
  onClose: () => void;
}

/** Asks whether to delete a session, and lists which data is deleted and which data stays. */
export default function DeleteDialog({ session, onDeleted, onClose }: DeleteDialogProps) {
  const { sessionId, title, cliType, isAlive } = session;
  const { requests } = useClient();
  const agentName = useAgentName(cliType);
  const [isDeleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<string>();
  const confirm = async () => {
    setDeleting(true);
    try {
      await requests.deleteSession(sessionId);
      onDeleted(sessionId);
      onClose();
    } catch (error) {
      setProblem(describeError(error).message);
      setDeleting(false);
    }
  };
  return (
    <Dialog title="Delete this session?" onClose={onClose}>
      <div className={form.form}>
        <p className={css.what}>
          <bdi className={css.title}>{labelOf(title)}</bdi> and its queue and attachments will be
          deleted.
          {isAlive && ' Its agent is stopped first.'}
        </p>
        <p className={css.not}>{agentName}’s own copy stays on disk, but is no longer listed.</p>
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button data-autofocus onClick={onClose}>
            Cancel
          </Button>
          <Button look="danger" disabled={isDeleting} onClick={() => void confirm()}>
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
