/** A piece of code and its style. */
export interface ColouredToken {
  /** Where it begins in the code. */
  offset: number;
  content: string;
  htmlStyle?: Record<string, string>;
}

export type ColouredLines = readonly (readonly ColouredToken[])[];

/** Each token is an element in the page: consecutive ones of one colour become one, including space. */
export function joinTokens(tokens: readonly ColouredToken[]): ColouredToken[] {
  const joined: ColouredToken[] = [];
  for (const { offset, content, htmlStyle } of tokens) {
    const token = { offset, content, htmlStyle: drawn(htmlStyle) };
    const last = joined.at(-1);
    if (last === undefined) joined.push(token);
    else if (isSpace(token) || isAlike(last, token)) last.content += content;
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

/** Without the variables, which are for pages that choose a theme themselves. */
function drawn(style: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(style).filter(([name]) => !name.startsWith('--')));
}

function isSpace({ content }: ColouredToken): boolean {
  return content.trim() === '';
}

function isAlike(a: ColouredToken, b: ColouredToken): boolean {
  return JSON.stringify(a.htmlStyle) === JSON.stringify(b.htmlStyle);
}
