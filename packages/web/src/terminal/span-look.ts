import { type Color, type ColorName, createColorPalette, namedColors } from 'ansi-sequence-parser';
import type { CSSProperties } from 'react';
import type { Style } from './terminal-text.ts';

export interface SpanLook {
  /** `shifted` means that the style sheet adjusts `--colour` until the text can be read in the theme. */
  kind: 'as-is' | 'shifted';
  /** The inline style; absent for ordinary text. */
  style?: CSSProperties & { '--colour'?: string };
}

/**
 * Returns the look of a span on the page. For the sixteen named colours, the page has its own colours, which can be
 * read in both themes. All other colours are adjusted until the text can be read. If the program set a background,
 * foreground and background are shown exactly.
 */
export function lookOf({ foreground, background, decorations }: Style): SpanLook {
  const style: CSSProperties = { ...emphasis(decorations), ...lines(decorations) };
  const [front, back] = decorations.has('reverse')
    ? [background, foreground]
    : [foreground, background];
  if (back === null && decorations.has('reverse')) {
    return {
      kind: 'as-is',
      style: { ...style, color: 'var(--sunken)', background: 'var(--text)' },
    };
  }
  if (back !== null) {
    const color = front === null ? readableOn(exact(back)) : exact(front);
    return { kind: 'as-is', style: { ...style, color, background: exact(back) } };
  }
  if (front === null) {
    return { kind: 'as-is', ...(Object.keys(style).length > 0 && { style }) };
  }
  const name = colorName(front);
  if (name !== undefined)
    return { kind: 'as-is', style: { ...style, color: `var(--ansi-${name})` } };
  return { kind: 'shifted', style: { ...style, '--colour': exact(front) } };
}

function emphasis(decorations: Style['decorations']): CSSProperties {
  return {
    ...(decorations.has('bold') && { fontWeight: 650 }),
    ...(decorations.has('dim') && { opacity: 0.75 }),
    ...(decorations.has('italic') && { fontStyle: 'italic' }),
    ...(decorations.has('hidden') && { visibility: 'hidden' }),
  };
}

function lines(decorations: Style['decorations']): CSSProperties {
  const drawn = [
    ...(decorations.has('underline') ? ['underline'] : []),
    ...(decorations.has('overline') ? ['overline'] : []),
    ...(decorations.has('strikethrough') ? ['line-through'] : []),
  ];
  return drawn.length === 0 ? {} : { textDecoration: drawn.join(' ') };
}

/** Returns the name of a colour. Only the first sixteen colours of a terminal's table have names. */
function colorName(colour: Color): ColorName | undefined {
  if (colour.type === 'named') return colour.name;
  return colour.type === 'table' ? namedColors[colour.index] : undefined;
}

const palette = createColorPalette({
  black: '#111214',
  red: '#c9332c',
  green: '#1c8f57',
  yellow: '#d6a523',
  blue: '#2f62c9',
  magenta: '#a63fb0',
  cyan: '#1192a3',
  white: '#dcdde1',
  brightBlack: '#6b6d76',
  brightRed: '#f0625a',
  brightGreen: '#3fc380',
  brightYellow: '#f2cb52',
  brightBlue: '#6a97f5',
  brightMagenta: '#d377dd',
  brightCyan: '#48c4d6',
  brightWhite: '#ffffff',
});

/** Returns the colour as `#rrggbb`. A program may use an index beyond the end of the table. */
function exact(colour: Color): string {
  const isKnown = colour.type !== 'table' || (colour.index >= 0 && colour.index < 256);
  return isKnown ? palette.value(colour) : '#8d9099';
}

function readableOn(background: string): string {
  const [red = 0, green = 0, blue = 0] =
    background.match(/[\da-f]{2}/gi)?.map((part) => Number.parseInt(part, 16)) ?? [];
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? '#111214' : '#ffffff';
}
