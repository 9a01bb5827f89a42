import { AudioLines, FileText, X } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { Button } from '../look/controls.tsx';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { bytes, count } from '../words/amounts.ts';
import { baseName } from '../words/paths.ts';
import css from './AttachedFiles.module.css';
import { FileImage, imageName } from './FileImage.tsx';
import type { Attachment, Attachments, Incoming } from './use-attachments.ts';
import { fileInfo } from './why-not-sent.ts';
import { labelOf } from '../words/label.ts';

interface AttachedFilesProps {
  attachments: Attachments;
  /** Whether the message will be sent as soon as all files are read. */
  sendsWhenReady: boolean;
  onRemove: () => void;
}

/** Lists the draft's attachments, each with its name, size and state, and a button that removes it. */
export function AttachedFiles({ attachments, sendsWhenReady, onRemove }: AttachedFilesProps) {
  const { list, incoming, retry } = attachments;
  const remove = (one: Attachment | Incoming): void => {
    onRemove();
    attachments.remove(one);
  };
  // Problems are shown outside the list, because a person might have to scroll the list to see them.
  const refused = [...list, ...incoming].filter(({ problem }) => problem !== undefined);
  const removeRefused = () => {
    for (const one of refused) remove(one);
  };
  const reading = sendsWhenReady ? 'reading, then sent' : 'reading';
  return (
    <>
      <p className={spoken.only} role="status">
        {list.length > 0 && `${count(list.length, 'file')} attached`}
      </p>
      {refused.length > 0 && (
        <p className={css.refused} role="status">
          {count(refused.length, 'attachment')} cannot be sent.
          <Button look="quiet" onClick={removeRefused}>
            Remove {refused.length === 1 ? 'it' : 'them'}
          </Button>
        </p>
      )}
      {list.length + incoming.length > 0 && (
        <ul className={css.files} aria-label="Attached">
          {list.map((attachment, index) => (
            <Attached
              key={index}
              attachment={attachment}
              onRemove={() => remove(attachment)}
              onRetry={() => retry(attachment)}
            />
          ))}
          {incoming.map((file) => (
            <Card
              key={`incoming ${file.id}`}
              name={file.name}
              state={file.problem === undefined ? reading : undefined}
              problem={file.problem}
              onRemove={() => remove(file)}
            >
              <FileText size={18} aria-hidden="true" />
            </Card>
          ))}
        </ul>
      )}
    </>
  );
}

interface AttachedProps {
  attachment: Attachment;
  onRemove: () => void;
  onRetry: () => void;
}

function Attached({ attachment, onRemove, onRetry }: AttachedProps) {
  const { block, upload, problem } = attachment;
  const { size } = fileInfo(block);
  const Icon = block.type === 'audio' ? AudioLines : FileText;
  return (
    <Card
      name={attachmentName(attachment)}
      state={uploadState(attachment) ?? (size === undefined ? undefined : bytes(size))}
      isBusy={upload?.state === 'uploading'}
      problem={problem}
      onRemove={onRemove}
      onRetry={upload?.state === 'failed' ? onRetry : undefined}
    >
      {block.type === 'image' ? (
        <FileImage block={block} className={css.image} />
      ) : (
        <Icon size={18} aria-hidden="true" />
      )}
    </Card>
  );
}

interface CardProps {
  name: string;
  /** The file's size, or the state of its upload. */
  state: string | undefined;
  isBusy?: boolean;
  problem: string | undefined;
  onRemove: () => void;
  onRetry?: (() => void) | undefined;
  /** The file's picture or icon. */
  children: ReactNode;
}

function Card({ name, state, isBusy = false, problem, onRemove, onRetry, children }: CardProps) {
  const id = useId();
  const label = labelOf(name);
  return (
    <li className={css.card} data-failed={problem !== undefined} data-busy={isBusy}>
      <span className={css.picture}>{children}</span>
      <span className={css.words}>
        <span className={css.name} title={label}>
          <ShownText text={name} />
        </span>
        {state !== undefined && <span className={css.state}>{state}</span>}
      </span>
      <button
        type="button"
        className={css.remove}
        aria-label={`Remove ${label}`}
        title="Remove"
        aria-describedby={problem === undefined ? undefined : id}
        onClick={onRemove}
      >
        <X size={14} aria-hidden="true" />
      </button>
      {problem !== undefined && (
        <div className={css.problem} role="alert">
          <span id={id}>{problem}</span>
          {onRetry !== undefined && (
            <Button look="quiet" onClick={onRetry}>
              Try again
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

function attachmentName({ block }: Attachment): string {
  if (block.type === 'image') return imageName(block);
  return baseName(fileInfo(block).name ?? 'File');
}

function uploadState({ upload }: Attachment): string | undefined {
  if (upload?.state === 'uploading') return 'Uploading';
  return upload?.state === 'waiting' ? 'Waits for the server' : undefined;
}
