import { markHidden } from '@liminal/protocol';

/** Most characters of a label. The page itself shows longer texts in full. */
const most = 300;

/**
 * A text for places that the page does not lay out: the window's title, tooltips, accessible names and announcements.
 * One line, at most 300 characters, with hidden characters shown as their code points. Use it for all text from agents.
 */
export function labelOf(text: string): string {
  const line = text
    .slice(0, 2 * most)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = markHidden(line);
  if (shown.length <= most && text.length <= 2 * most) return shown;
  // Remove half of a surrogate pair at the end.
  return `${shown.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/** Most characters of a downloaded file's name; file systems allow 255 bytes. */
const longestName = 80;

/** A name for a downloaded file: a label that keeps the extension. */
export function fileNameOf(name: string): string {
  const shown = markHidden(name.replaceAll(/[\s/\\]+/g, ' ').trim());
  if (shown.length <= longestName) return shown || 'file';
  const end = shown.slice(-20).replace(/^\p{Cs}/u, '');
  return `${shown.slice(0, longestName - 21).replace(/\p{Cs}$/u, '')}…${end}`;
}

/**
 * The whole text for the clipboard, without characters that have an effect when pasted: control characters, which a
 * terminal obeys, and marks that change the writing direction.
 */
export function pastedOf(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '');
}
