import { markHidden } from '@liminal/protocol';

/** The most characters of a label. The page itself shows longer texts completely. */
const most = 300;

/**
 * Returns a text for places that the page does not lay out: the window's title, tooltips, accessible names and
 * announcements. The text is one line of at most 300 characters, in which hidden characters are shown as their code
 * points. Use this function for all texts from agents.
 */
export function labelOf(text: string): string {
  const line = text
    .slice(0, 2 * most)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = markHidden(line);
  if (shown.length <= most && text.length <= 2 * most) return shown;
  // If the text now ends with half of a surrogate pair, remove that half.
  return `${shown.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/** The most characters of a downloaded file's name. File systems allow 255 bytes. */
const longestName = 80;

/** Returns a name for a downloaded file: a label that keeps the file's extension. */
export function fileNameOf(name: string): string {
  const shown = markHidden(name.replaceAll(/[\s/\\]+/g, ' ').trim());
  if (shown.length <= longestName) return shown || 'file';
  const end = shown.slice(-20).replace(/^\p{Cs}/u, '');
  return `${shown.slice(0, longestName - 21).replace(/\p{Cs}$/u, '')}…${end}`;
}

/**
 * Returns the whole text for the clipboard, without characters that have an effect when they are pasted: control
 * characters, which a terminal obeys, and marks that change the writing direction.
 */
export function pastedOf(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '');
}
