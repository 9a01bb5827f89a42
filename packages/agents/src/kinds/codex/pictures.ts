import { readFileSync, statSync } from 'node:fs';
import { imageType } from '@liminal/protocol';
import { isRecord } from '../../base/parse-line.ts';

/** The largest file (bytes) whose picture is shown. */
const maxPicture = 8 * 1024 * 1024;

/**
 * If a notification's item reports that the model has viewed a picture, adds the picture to the item: Codex sends only
 * the file's path.
 */
export function withPicture(params: Record<string, unknown>): Record<string, unknown> {
  const { item } = params;
  if (!isRecord(item) || item['type'] !== 'imageView') return params;
  return { ...params, item: { ...item, result: pictureIn(String(item['path'])) } };
}

/**
 * Returns the picture in base64. Reads the file synchronously, because Codex has just read the file, so that the file
 * is in the disk cache.
 */
function pictureIn(path: string): string | undefined {
  try {
    const file = statSync(path);
    if (!file.isFile() || file.size > maxPicture) return undefined;
    const bytes = readFileSync(path);
    return imageType(bytes) === undefined ? undefined : bytes.toString('base64');
  } catch {
    return undefined;
  }
}
