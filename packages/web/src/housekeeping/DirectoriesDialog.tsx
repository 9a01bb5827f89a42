import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { DirectoriesBody, SessionSummary } from '@liminal/protocol';
import { useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { labelOf } from '../words/label.ts';
import css from './RowList.module.css';

interface DirectoriesDialogProps {
  session: SessionSummary;
  onClose: () => void;
}

/** Shows and changes the folders that a session may use in addition to its project's folder. */
export default function DirectoriesDialog({ session, onClose }: DirectoriesDialogProps) {
  const { sessionId, projectDir } = session;
  const { requests } = useClient();
  const [folders, setFolders] = useState(session.additionalDirectories ?? []);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const [notice, setNotice] = useState('');

  const change = async (changes: DirectoriesBody, done: string): Promise<boolean> => {
    setProblem(undefined);
    try {
      const { additionalDirectories } = await requests.changeDirectories(sessionId, changes);
      setFolders(additionalDirectories);
      setNotice(done);
      return true;
    } catch (error) {
      setProblem(describeError(error).message);
      return false;
    }
  };
  const add = async () => {
    const folder = typed.trim();
    if (await change({ add: [folder] }, `Added: ${folder}`)) setTyped('');
  };

  return (
    <Dialog title="Folders" onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== '') void add();
        }}
      >
        <p className={css.what}>
          The agent works in <bdi>{projectDir}</bdi>
          {folders.length === 0 ? '.' : ', and in these folders:'}
        </p>
        {folders.length > 0 && (
          <ul className={css.rows}>
            {folders.map((folder) => (
              <li key={folder}>
                <span className={css.row}>
                  <ShownText text={folder} />
                </span>
                <Button
                  aria-label={`Remove: ${labelOf(folder)}`}
                  onClick={() => void change({ remove: [folder] }, `Removed: ${folder}`)}
                >
                  Remove
                </Button>
              </li>
            ))}
          </ul>
        )}
        <div className={form.field}>
          <label className={form.label} htmlFor="another-folder">
            Another folder
          </label>
          <input
            id="another-folder"
            data-autofocus
            className={form.input}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
          />
        </div>
        <FormProblem text={problem} />
        <p className={spoken.only} role="status">
          {notice}
        </p>
        <div className={form.actions}>
          <Button type="submit" disabled={typed.trim() === ''}>
            Add
          </Button>
          <Button onClick={onClose}>Done</Button>
        </div>
      </form>
    </Dialog>
  );
}
