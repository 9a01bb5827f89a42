import { Camera, Files, Paperclip } from 'lucide-react';
import { type RefObject, useRef } from 'react';
import { IconButton } from '../look/controls.tsx';
import { IconTrigger, Menu, MenuItem } from '../look/Menu.tsx';
import { useMediaQuery } from '../look/use-media-query.ts';

/** A button that chooses files to attach. On a phone, the button can also take a photo. */
export function AttachButton({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const isTouch = useMediaQuery('(pointer: coarse)');
  return (
    <>
      {isTouch ? (
        <AttachMenu picker={picker} camera={camera} />
      ) : (
        <IconButton label="Attach files" onClick={() => picker.current?.click()}>
          <Paperclip size={15} aria-hidden="true" />
        </IconButton>
      )}
      <FileInput input={picker} onFiles={onFiles} />
      <FileInput input={camera} onFiles={onFiles} isCamera />
    </>
  );
}

interface AttachMenuProps {
  picker: RefObject<HTMLInputElement | null>;
  camera: RefObject<HTMLInputElement | null>;
}

function AttachMenu({ picker, camera }: AttachMenuProps) {
  const trigger = (
    <IconTrigger label="Attach files">
      <Paperclip size={17} aria-hidden="true" />
    </IconTrigger>
  );
  return (
    <Menu trigger={trigger} side="top" align="start">
      <MenuItem icon={<Files size={16} />} onClick={() => picker.current?.click()}>
        Choose files
      </MenuItem>
      <MenuItem icon={<Camera size={16} />} onClick={() => camera.current?.click()}>
        Take a photo
      </MenuItem>
    </Menu>
  );
}

interface FileInputProps {
  input: RefObject<HTMLInputElement | null>;
  onFiles: (files: readonly File[]) => void;
  isCamera?: boolean;
}

/** The browser's file input, hidden. A press on the page's own button opens the input. */
function FileInput({ input, onFiles, isCamera = false }: FileInputProps) {
  const kind = isCamera
    ? ({ accept: 'image/*', capture: 'environment' } as const)
    : { multiple: true };
  return (
    <input
      ref={input}
      type="file"
      hidden
      aria-label={isCamera ? 'Photo' : 'Files'}
      {...kind}
      onChange={({ currentTarget }) => {
        onFiles([...(currentTarget.files ?? [])]);
        // Clear the input: otherwise, if the same file is chosen again, the browser would send no change event.
        currentTarget.value = '';
      }}
    />
  );
}
