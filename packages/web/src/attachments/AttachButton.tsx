import { Menu } from '@base-ui/react/menu';
import { Camera, Files, Paperclip } from 'lucide-react';
import { type RefObject, useRef } from 'react';
import { useMenuLayer } from '../app/history.ts';
import { IconButton } from '../look/controls.tsx';
import controls from '../look/controls.module.css';
import { useMediaQuery } from '../look/use-media-query.ts';
import menu from '../look/menu.module.css';

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
  const layer = useMenuLayer();
  return (
    <Menu.Root {...layer}>
      <Menu.Trigger className={controls.icon} aria-label="Attach files" title="Attach files">
        <Paperclip size={17} aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={menu.positioner} side="top" align="start" sideOffset={6}>
          <Menu.Popup className={menu.popup}>
            <Menu.Item className={menu.item} onClick={() => picker.current?.click()}>
              <Files size={16} />
              Choose files
            </Menu.Item>
            <Menu.Item className={menu.item} onClick={() => camera.current?.click()}>
              <Camera size={16} />
              Take a photo
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
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
