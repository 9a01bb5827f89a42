import { shrinkImage } from './shrink-image.ts';
import { localUri, type Upload, describeFile, type Files, withUri } from '@liminal/client';
import { useClient, useStore } from '@liminal/client/react';
import { type ContentBlock, blobMax } from '@liminal/protocol';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useDraftBlocks } from '../storage/drafts.ts';
import { type Recipient, whyNotSent, fileInfo } from './why-not-sent.ts';

/** An attachment of a message that is being written. */
export interface Attachment {
  block: ContentBlock;
  /** The state of the upload; undefined if the attachment needs no upload. */
  upload: Upload | undefined;
  /** The reason why the attachment cannot be sent; undefined if it can be sent. */
  problem: string | undefined;
}

/** A chosen file that is being read, or that could not be read (`problem`). */
export interface Incoming {
  id: number;
  name: string;
  problem?: string;
}

/** The attachments of the message that is being written, and the actions on them. */
export interface Attachments {
  list: readonly Attachment[];
  incoming: readonly Incoming[];
  /** Whether files are still being read. */
  isReading: boolean;
  /** Whether all attachments can be sent now. */
  canSend: boolean;
  /** Attaches files. */
  add: (files: readonly File[]) => void;
  /** Attaches the blocks of an earlier message. */
  put: (blocks: readonly ContentBlock[]) => void;
  remove: (attachment: Attachment | Incoming) => void;
  /** Tries to upload a file again. */
  retry: (attachment: Attachment) => void;
  /** Removes all attachments, and returns their blocks, which can then be sent. */
  take: () => readonly ContentBlock[];
}

/**
 * Returns the attachments of a session's draft. Attachments are uploaded at once, and are stored like the draft's text.
 * `onAdd` is called when something is attached.
 */
export function useAttachments(
  sessionId: string,
  recipient: Recipient,
  onAdd: () => void,
): Attachments {
  const { files } = useClient();
  const [blocks, change] = useDraftBlocks(sessionId);
  const uploads = useStore(files.uploads);
  const { incoming, read, dismiss } = useIncoming(change);
  const add = useCallback(
    (chosen: readonly File[]) => {
      if (chosen.length === 0) return;
      onAdd();
      read(chosen);
    },
    [onAdd, read],
  );
  const put = useCallback(
    (more: readonly ContentBlock[]) =>
      change((held) => (more.length === 0 ? held : [...held, ...more])),
    [change],
  );
  const take = useCallback(() => {
    let taken: readonly ContentBlock[] = [];
    change((held) => {
      taken = held;
      return held.length === 0 ? held : [];
    });
    return taken;
  }, [change]);
  const { name, accepts } = recipient;
  const reasons = useMemo(() => whyNotSent(blocks, { name, accepts }), [blocks, name, accepts]);

  useEffect(() => {
    for (const [index, block] of blocks.entries()) {
      const uri = localUri(block);
      if (uri !== undefined && reasons[index] === undefined) files.start(uri);
    }
  }, [blocks, files, reasons]);

  return useMemo(() => {
    const list = blocks.map((block, index): Attachment => {
      const upload = uploads.get(localUri(block) ?? '');
      const failure = upload?.state === 'failed' ? upload.problem.message : undefined;
      return { block, upload, problem: reasons[index] ?? failure };
    });
    const isReading = incoming.some(({ problem }) => problem === undefined);
    return {
      list,
      incoming,
      isReading,
      canSend: !isReading && list.every(({ problem }) => problem === undefined),
      add,
      put,
      take,
      remove: (attachment) => {
        if (!('block' in attachment)) return dismiss(attachment.id);
        const { block } = attachment;
        change((held) => held.filter((one) => one !== block));
        files.forget([block]);
      },
      retry: ({ block }) => files.retry(localUri(block) ?? ''),
    };
  }, [blocks, uploads, reasons, incoming, add, put, take, change, dismiss, files]);
}

type Change = ReturnType<typeof useDraftBlocks>[1];

/** Returns the files that are being read into the draft, and the files that could not be read. */
function useIncoming(change: Change) {
  const { files } = useClient();
  const [incoming, setIncoming] = useState<readonly Incoming[]>([]);
  const reading = useRef({ count: 0, last: Promise.resolve(), dismissed: new Set<number>() });
  const dismiss = useCallback((id: number) => {
    reading.current.dismissed.add(id);
    setIncoming((held) => held.filter((one) => one.id !== id));
  }, []);
  const attach = useCallback(
    async (file: File, { id, name }: Incoming) => {
      try {
        const block = await attachFile(file, files);
        if (reading.current.dismissed.has(id)) return files.forget([block]);
        change((held) => [...held, block]);
        dismiss(id);
      } catch {
        const problem = 'This could not be read. A folder cannot be attached; attach its files.';
        setIncoming((held) => held.map((one) => (one.id === id ? { id, name, problem } : one)));
      }
    },
    [change, dismiss, files],
  );
  const read = useCallback(
    (chosen: readonly File[]) => {
      const { current } = reading;
      const more = chosen.map((file) => ({ file, of: { id: ++current.count, name: file.name } }));
      setIncoming((held) => [...held, ...more.map(({ of }) => of)]);
      // Attach one file after the other: this keeps the order of the files, and only one photo at a time is drawn.
      for (const { file, of } of more) current.last = current.last.then(() => attach(file, of));
    },
    [attach],
  );
  return { incoming, read, dismiss };
}

/** Stores a file on this device and returns the block that refers to the file. Rejects if the file cannot be read. */
async function attachFile(file: File, files: Files): Promise<ContentBlock> {
  const small = await shrinkImage(file).catch(() => file);
  const name = attachedName(file, small);
  if (small.size > blobMax) return tooLarge(file, name);
  const bytes = new Uint8Array(await small.arrayBuffer());
  const block = describeFile({ name, type: small.type, bytes }, '');
  const type = fileInfo(block).mimeType ?? '';
  return withUri(block, await files.store(new Blob([bytes], { type })));
}

/** Returns the file's name; if the image's type was changed, the name has the extension of the new type. */
function attachedName({ name, type }: File, small: Blob): string {
  if (small.type === type) return name;
  return `${name.replace(/\.\w+$/, '')}.${small.type.replace(/^image\//, '').replace('jpeg', 'jpg')}`;
}

/**
 * Returns the block for a file that is too large. The file's bytes are neither read nor stored: the page shows only the
 * file's name and size.
 */
function tooLarge({ type, size }: File, name: string): ContentBlock {
  const mimeType = type === '' ? 'application/octet-stream' : type;
  return { type: 'resource', resource: { uri: 'local:too-large', mimeType, name, size } };
}
