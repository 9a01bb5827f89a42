import { Download } from 'lucide-react';
import controls from '../look/controls.module.css';
import { Dialog } from '../look/Dialog.tsx';
import { bytes } from '../words/amounts.ts';
import css from './ImageView.module.css';
import { fileNameOf, labelOf } from '../words/label.ts';

interface ImageViewProps {
  src: string;
  name: string;
  size: number | undefined;
  onClose: () => void;
}

/** Shows an image as large as the page allows. */
export function ImageView({ src, name, size, onClose }: ImageViewProps) {
  const label = labelOf(name);
  return (
    <Dialog title={label} look="wide" onClose={onClose}>
      <div className={css.image}>
        <img src={src} alt={label} />
      </div>
      <div className={css.foot}>
        {size !== undefined && <span>{bytes(size)}</span>}
        <a className={controls.button} href={src} download={fileNameOf(name)} data-autofocus>
          <Download size={14} aria-hidden="true" />
          Download
        </a>
      </div>
    </Dialog>
  );
}
