/** A position in a file: the path as it is written, and the lines. */
export interface FileTarget {
  path: string;
  /** From 1. */
  line?: number;
  endLine?: number;
}

/** Matches addresses that look like a file with a line number: `tel:123`, `localhost:3000`. */
const noFile = /^(?:tel|sms|fax|callto|data|javascript|vbscript|localhost|\d+(?:\.\d+){3}):/i;

/** Matches a Windows path with a drive: `C:\\a.ts`, `C:/a.ts`; Markdown encodes the backslash. */
const isOnDrive = /^[a-z]:(?:[\\/]|%5c)/i;

/** Returns the file that a link leads to; undefined for a web address, a place in the text, or an empty link. */
export function linkTarget(href: string): FileTarget | undefined {
  if (href === '' || href.startsWith('#') || href.startsWith('//')) return undefined;
  if (/^file:/i.test(href)) return fileUrlTarget(href);
  if (isOnDrive.test(href)) return withFragment(href);
  const isFileWithLine = /^[^/?#:]+:\d+(?:[:-]\d+)*$/.test(href) && !noFile.test(href);
  if (!isFileWithLine && (/^[a-z][a-z\d+.-]*:/i.test(href) || noFile.test(href))) return undefined;
  return withFragment(href);
}

/** Returns the file that a piece of code may name: `src/a.ts`, `a.ts:12`. The file may not exist. */
export function codeTarget(code: string): FileTarget | undefined {
  if (code.length > 300 || !/^[^\s`'"<>|*?:]+(?::\d+(?:[:-]\d+)?)?$/.test(code)) return undefined;
  const target = withLines(code);
  return /[/.]/.test(target.path) && !target.path.startsWith('//') ? target : undefined;
}

function fileUrlTarget(href: string): FileTarget | undefined {
  const [address = '', fragment] = href.split('#');
  const path = address
    .replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '')
    .replace(/^\/(?=[a-z]:[\\/])/i, '');
  return path === ''
    ? undefined
    : withFragment(fragment === undefined ? path : `${path}#${fragment}`);
}

function withFragment(href: string): FileTarget | undefined {
  const [written = '', fragment = ''] = href.split('#');
  if (written === '') return undefined;
  const lines = /^L?(\d+)(?:C\d+)?(?:-L?(\d+)(?:C\d+)?)?$/i.exec(fragment);
  const path = tryDecode(written);
  return lines === null ? withLines(path) : inLines(path, lines[1], lines[2]);
}

/** Parses `a.ts:12`, `a.ts:12:5` (line and column) and `a.ts:12-20`. */
function withLines(text: string): FileTarget {
  const found = /^(.+?):(\d+)(?::\d+)?(?:-(\d+))?$/.exec(text);
  return found?.[1] === undefined ? { path: text } : inLines(found[1], found[2], found[3]);
}

function inLines(path: string, from: string | undefined, to: string | undefined): FileTarget {
  const line = Number(from);
  const endLine = Number(to);
  if (!(line >= 1)) return { path };
  return endLine > line ? { path, line, endLine } : { path, line };
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the position as people write it: `src/a.ts:12`, `src/a.ts:12–20`. */
export function targetWords({ path, line, endLine }: FileTarget): string {
  if (line === undefined) return path;
  return endLine === undefined ? `${path}:${line}` : `${path}:${line}–${endLine}`;
}
