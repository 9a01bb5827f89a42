import { Paperclip } from 'lucide-react';
import { useEffect, useState } from 'react';
import css from './DropTarget.module.css';

/**
 * Accepts files that are dropped anywhere on the page, or pasted outside of other fields than the message field, while
 * the session is shown. Shows a hint while files are dragged.
 */
export function DropTarget({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      // Prevent the browser from opening the file in place of the page.
      event.preventDefault();
      const canTake = !isDialogOpen();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = canTake ? 'copy' : 'none';
      setOver(canTake);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      setOver(false);
      if (!isDialogOpen()) onFiles([...(event.dataTransfer?.files ?? [])]);
    };
    const paste = (event: ClipboardEvent) => {
      const files = pastedFiles(event);
      if (files.length === 0 || isElsewhere(event.target)) return;
      event.preventDefault();
      onFiles(files);
    };
    document.addEventListener('dragenter', onDragOver, { signal });
    document.addEventListener('dragover', onDragOver, { signal });
    document.addEventListener('dragleave', onDragLeave, { signal });
    document.addEventListener('drop', drop, { signal });
    document.addEventListener('paste', paste, { signal });
    return () => {
      listening.abort();
      setOver(false);
    };
  }, [onFiles]);
  if (!isOver) return null;
  return (
    <div className={css.target} data-drop-target>
      <p>
        <Paperclip size={16} aria-hidden="true" />
        Drop files to attach them
      </p>
    </div>
  );
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes('Files') ?? false;
}

function isDialogOpen(): boolean {
  return document.querySelector('dialog[open]') !== null;
}

/**
 * Returns the pasted files; none if the clipboard also contains text. Office programs add a picture to a copied text or
 * table, but the person means the text.
 */
function pastedFiles({ clipboardData }: ClipboardEvent): File[] {
  if (clipboardData === null) return [];
  const isOffice = ['text/plain', 'text/html'].every((type) => clipboardData.types.includes(type));
  return isOffice ? [] : [...clipboardData.files];
}

/** Whether the target is a text field other than the message field. */
function isElsewhere(target: EventTarget | null): boolean {
  if (isDialogOpen()) return true;
  const field = target instanceof Element ? target.closest('input, textarea, select') : null;
  return field !== null && !field.matches('[data-composer]');
}
