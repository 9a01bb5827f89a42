import { markHidden } from '@liminal/protocol';

/** Characters of a label. The page itself shows longer texts whole. */
const most = 300;

/**
 * A text for places that the page does not lay out: the window's title, tooltips, names for screen readers and
 * announcements. In one line, at most 300 characters, and with hidden characters shown as their code points. What
 * agents write goes through here.
 */
export function labelOf(text: string): string {
  const line = text
    .slice(0, 2 * most)
    .replaceAll(/\s+/g, ' ')
    .trim();
  const shown = markHidden(line);
  if (shown.length <= most && text.length <= 2 * most) return shown;
  // No half of a character.
  return `${shown.slice(0, most - 1).replace(/\p{Cs}$/u, '')}…`;
}

/** Characters of a downloaded file's name; file systems take 255 bytes. */
const longestName = 80;

/** A name for a downloaded file: as a label, with the end that says what kind of file it is. */
export function fileNameOf(name: string): string {
  const shown = markHidden(name.replaceAll(/[\s/\\]+/g, ' ').trim());
  if (shown.length <= longestName) return shown || 'file';
  const end = shown.slice(-20).replace(/^\p{Cs}/u, '');
  return `${shown.slice(0, longestName - 21).replace(/\p{Cs}$/u, '')}…${end}`;
}

/**
 * The whole text for the clipboard, without characters that act when it is pasted: controls, which a terminal obeys,
 * and marks that change the direction of the text after them.
 */
export function pastedOf(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '');
}
