import { describeError } from '@liminal/client';
import type { FileResult } from '@liminal/protocol';
import { Check, Copy, X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import { useCopy } from '../look/use-copy.ts';
import { useMediaQuery } from '../look/use-media-query.ts';
import { bytes } from '../words/amounts.ts';
import { shortPath } from '../words/paths.ts';
import css from './FilePane.module.css';
import { FileText } from './FileText.tsx';
import { type FileTarget, targetWords } from './file-target.ts';
import type { SessionFiles } from './files.ts';
import { labelOf } from '../words/label.ts';

interface FilePaneProps {
  target: FileTarget;
  files: SessionFiles;
  onClose: () => void;
}

/** Shows a file: beside the conversation, or, on a phone, in front of it. */
export default function FilePane({ target, files, onClose }: FilePaneProps) {
  const isNarrow = useMediaQuery('(max-width: 720px)');
  const shown = { ...target, path: shortPath(target.path, files.folder) };
  const title = `File ${targetWords(shown)}`;
  const content = <FileView target={target} files={files} onClose={onClose} />;
  if (isNarrow) {
    return (
      <Dialog title={title} look="sheet" onClose={onClose}>
        {content}
      </Dialog>
    );
  }
  return (
    <SidePane title={title} target={target} onClose={onClose}>
      {content}
    </SidePane>
  );
}

interface SidePaneProps extends Omit<FilePaneProps, 'files'> {
  title: string;
  children: ReactNode;
}

/**
 * The pane beside the conversation. The pane receives the focus when it opens, so that keys scroll the file and Escape
 * closes the pane.
 */
function SidePane({ title, target, onClose, children }: SidePaneProps) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => ref.current?.focus(), [target]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    // Stop the event, because Escape would otherwise also stop the agent or reject its request.
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    // Escape works wherever the focus is in the pane.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      ref={ref}
      className={css.beside}
      aria-label={labelOf(title)}
      tabIndex={-1}
      data-file-pane
      onKeyDown={onKeyDown}
    >
      {children}
    </section>
  );
}

type ReadResult = { target: FileTarget } & ({ file: FileResult } | { problem: string });

/** Reads a file for the pane. Reads the file again whenever it is opened, because files change. */
function useProjectFile(target: FileTarget, files: SessionFiles): ReadResult | undefined {
  const [reading, setReading] = useState<ReadResult>();
  useEffect(() => {
    let wanted = true;
    const show = (result: { file: FileResult } | { problem: string }) => {
      if (wanted) setReading({ target, ...result });
    };
    files.read(target.path).then(
      (file) => show({ file }),
      (error: unknown) => show({ problem: describeError(error).message }),
    );
    return () => {
      wanted = false;
    };
  }, [files, target]);
  return reading?.target.path === target.path ? reading : undefined;
}

function FileView({ target, files, onClose }: FilePaneProps) {
  const reading = useProjectFile(target, files);
  const path = reading !== undefined && 'file' in reading ? reading.file.path : target.path;
  return (
    <div className={css.view} data-file-pane>
      <header className={css.head}>
        <h2 className={css.path} title={labelOf(path)}>
          {/* The path is cut at its start, because its end identifies the file. */}
          <bdi>{shortPath(path, files.folder)}</bdi>
        </h2>
        <CopyPath path={path} />
        <IconButton label="Close file" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {reading === undefined && (
        <p className={css.note} role="status">
          Reading the file
        </p>
      )}
      {reading !== undefined && 'problem' in reading && (
        <FileProblem text={reading.problem} path={path} />
      )}
      {reading !== undefined && 'file' in reading && (
        <FileContent key={path} file={reading.file} target={target} />
      )}
    </div>
  );
}

function FileContent({ file, target }: { file: FileResult; target: FileTarget }) {
  switch (file.kind) {
    case 'text':
      return <FileText file={file} target={target} />;
    case 'image':
      return (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        <div className={css.image} role="region" aria-label="Image" tabIndex={0}>
          <img src={`data:${file.mimeType};base64,${file.data}`} alt={labelOf(file.path)} />
        </div>
      );
    case 'binary':
      return (
        <FileProblem
          text={`This file holds no text to show (${bytes(file.size)}). Open it in another program.`}
          path={file.path}
        />
      );
  }
}

function CopyPath({ path }: { path: string }) {
  const { copied, copy } = useCopy();
  return (
    <IconButton label={copied ? 'Copied' : 'Copy path'} onClick={() => copy(path)}>
      {copied ? <Check size={15} /> : <Copy size={15} />}
    </IconButton>
  );
}

function FileProblem({ text, path }: { text: string; path: string }) {
  const { copied, copy } = useCopy();
  return (
    <div className={css.problem}>
      <p role="alert">{text}</p>
      <Button onClick={() => copy(path)}>{copied ? 'Copied' : 'Copy path'}</Button>
    </div>
  );
}
