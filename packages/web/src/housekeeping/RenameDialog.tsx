import { describeError } from '@liminal/client';
import { useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';

interface RenameDialogProps {
  title: string;
  onRename: (title: string) => Promise<void>;
  onClose: () => void;
}

export default function RenameDialog({ title, onRename, onClose }: RenameDialogProps) {
  const [text, setText] = useState(title);
  const [problem, setProblem] = useState<string>();
  const save = async () => {
    try {
      await onRename(text.trim());
      onClose();
    } catch (error) {
      setProblem(describeError(error).message);
    }
  };
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <input
          className={form.input}
          aria-label="Title"
          data-autofocus
          onFocus={(event) => event.target.select()}
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={text.trim() === ''}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
