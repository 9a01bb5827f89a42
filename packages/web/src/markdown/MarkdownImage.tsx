import { useEffect, useState } from 'react';
import { linkTarget } from '../files/file-target.ts';
import { useSessionFiles } from '../files/files.ts';
import { Button } from '../look/controls.tsx';
import { useRemembered } from '../transcript/remembered.ts';
import css from './MarkdownImage.module.css';
import { labelOf } from '../words/label.ts';

interface MarkdownImageProps {
  src: string;
  alt: string;
}

/**
 * Shows an image in an answer. An image of the project is loaded at once; an image from the web is loaded only on
 * request.
 */
export function MarkdownImage({ src, alt }: MarkdownImageProps) {
  if (src.startsWith('data:')) return <img className={css.image} src={src} alt={labelOf(alt)} />;
  const target = linkTarget(src);
  if (target !== undefined) return <ProjectImage path={target.path} alt={alt} />;
  return <RemoteImage src={src} alt={alt} />;
}

type LoadedImage = { path: string; src: string | undefined };

function ProjectImage({ path, alt }: { path: string; alt: string }) {
  const files = useSessionFiles();
  const [found, setFound] = useState<LoadedImage>();
  useEffect(() => {
    let wanted = true;
    files?.read(path).then(
      (file) => {
        const src = file.kind === 'image' ? `data:${file.mimeType};base64,${file.data}` : undefined;
        if (wanted) setFound({ path, src });
      },
      () => {
        if (wanted) setFound({ path, src: undefined });
      },
    );
    return () => {
      wanted = false;
    };
  }, [files, path]);

  const name = alt || path;
  const open = () => files?.open({ path });
  if (found?.path !== path || found.src === undefined) {
    // Show a link. The link opens the file pane, which shows why the image cannot be shown.
    return (
      <button type="button" className={css.missing} onClick={open}>
        Image: {name}
      </button>
    );
  }
  return (
    <button type="button" className={css.open} title={`Show ${labelOf(path)}`} onClick={open}>
      <img className={css.image} src={found.src} alt={labelOf(name)} />
    </button>
  );
}

/**
 * Shows an image from the web. The image is loaded only on a click, because loading it would reveal to the text's
 * author that the text was read, and from which address. The image is loaded in a frame of its own, because this page's
 * policy allows no images from other origins.
 */
function RemoteImage({ src, alt }: MarkdownImageProps) {
  const [isWanted, setWanted] = useRemembered(`image ${src}`, false);
  const host = hostOf(src);
  const link = (
    <a href={src} target="_blank" rel="noopener noreferrer">
      Image: {alt || src}
    </a>
  );
  if (host === undefined) return link;
  if (!isWanted) {
    return (
      <span className={css.remote}>
        {link}
        <Button onClick={() => setWanted(true)}>Load image from {host}</Button>
      </span>
    );
  }
  return (
    <span className={css.remote}>
      <iframe
        className={css.frame}
        title={labelOf(alt) || `Image from ${host}`}
        src={`/api/image-frame?url=${encodeURIComponent(src)}`}
        sandbox=""
        referrerPolicy="no-referrer"
      />
      {link}
    </span>
  );
}

/**
 * Returns the host of an image's address. Returns undefined for an address without TLS, because anybody on the network
 * could see and change the image.
 */
function hostOf(src: string): string | undefined {
  if (!URL.canParse(src)) return undefined;
  const { protocol, host } = new URL(src);
  return protocol === 'https:' ? host : undefined;
}
