/** A piece of code and its style. */
export interface ColouredToken {
  /** The index in the code at which the piece begins. */
  offset: number;
  content: string;
  /** CSS declarations. */
  css: string;
}

export type ColouredLines = readonly (readonly ColouredToken[])[];

/** A piece of code, as Shiki returns it. */
interface ShikiToken {
  offset: number;
  content: string;
  htmlStyle?: Record<string, string>;
}

/** Joins consecutive tokens of the same colour, including spaces, because each token is an element in the page. */
export function joinTokens(tokens: readonly ShikiToken[]): ColouredToken[] {
  const joined: ColouredToken[] = [];
  for (const { offset, content, htmlStyle } of tokens) {
    const token = { offset, content, css: declarationsOf(htmlStyle) };
    const last = joined.at(-1);
    if (last === undefined) joined.push(token);
    else if (isSpace(token) || last.css === token.css) last.content += content;
    else if (isSpace(last))
      joined[joined.length - 1] = {
        ...token,
        offset: last.offset,
        content: last.content + content,
      };
    else joined.push(token);
  }
  return joined;
}

/**
 * Returns the CSS declarations of a style, without Shiki's variables, which are for pages that choose a theme
 * themselves.
 */
function declarationsOf(style: Record<string, string> = {}): string {
  return Object.entries(style)
    .filter(([name]) => !name.startsWith('--'))
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}

function isSpace({ content }: ColouredToken): boolean {
  return content.trim() === '';
}
