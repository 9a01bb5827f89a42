import { readFileSync, statSync } from 'node:fs';
import { imageType } from '@liminal/protocol';
import { isRecord } from '../base/parse-line.ts';

/** The largest file (bytes) whose picture is shown. */
const maxPicture = 8 * 1024 * 1024;

/** What Codex says of an item, with the picture that its model has looked at: Codex names only the file. */
export function withPicture(params: Record<string, unknown>): Record<string, unknown> {
  const { item } = params;
  if (!isRecord(item) || item['type'] !== 'imageView') return params;
  return { ...params, item: { ...item, result: pictureIn(String(item['path'])) } };
}

/** In base64. Codex has just read the file: it waits for no disk. */
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
