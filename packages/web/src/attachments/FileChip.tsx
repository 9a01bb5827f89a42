import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import { AudioLines, Download, FileText } from 'lucide-react';
import { useState } from 'react';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { bytes } from '../words/amounts.ts';
import css from './FileChip.module.css';
import { saveFile } from './use-file.ts';

interface FileChipProps {
  /** The address of the file: `blob:…` in the blob store, or `local:…` on this device. */
  uri: string;
  name: string;
  size: number | undefined;
  isAudio: boolean;
}

/** A file in a message. A press downloads the file. */
export function FileChip({ uri, name, size, isAudio }: FileChipProps) {
  const { files } = useClient();
  const [problem, setProblem] = useState<string>();
  const save = async () => {
    setProblem(undefined);
    try {
      saveFile(await files.read(uri), name);
    } catch (error) {
      setProblem(describeError(error).message);
    }
  };
  const Icon = isAudio ? AudioLines : FileText;
  return (
    <>
      <button type="button" className={css.file} title="Download" onClick={() => void save()}>
        <Icon size={14} aria-hidden="true" />
        <span className={spoken.only}>{'Download '}</span>
        <span className={css.name}>
          <ShownText text={name} />
        </span>
        {size !== undefined && <small>{bytes(size)}</small>}
        <Download className={css.arrow} size={13} aria-hidden="true" />
      </button>
      {problem !== undefined && (
        <p className={css.problem} role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
