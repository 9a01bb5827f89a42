import { hasHidden } from '@liminal/protocol';

/** A longer text (characters) takes several steps to be drawn. */
const longest = 20_000;

/**
 * Signs of Markdown that can keep a part of the text from being seen: links and images (their addresses), definitions,
 * footnotes, HTML and its comments, entities, formulas, code and tables (folded, or wider than the page).
 */
const hiding = [
  /\]\s*[([:]/,
  /!\[|\[\^/,
  /<[a-z!/?]/i,
  /&[#\w]+;/,
  /`{3}|~{3}/,
  /\$|\\[([]/,
  /^[^\S\n\r\u2028\u2029]*(?:\|[^\S\n\r\u2028\u2029]*)?:?-+:?[^\S\n\r\u2028\u2029]*\|/m,
  /^(?: {4}|\t)[^\S\n\r\u2028\u2029]*(?![-*+]\s|\d+[.)]\s)\S/m,
];

/** Whether Markdown, once drawn, shows all that the text says. */
export function isSimpleMarkdown(text: string): boolean {
  if (text.length > longest || hasHidden(text)) return false;
  return !hiding.some((sign) => sign.test(text));
}
