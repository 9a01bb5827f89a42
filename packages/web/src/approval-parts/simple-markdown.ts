import { hasHidden } from '@liminal/protocol';

/** The length of the longest Markdown that is rendered in one step, in characters. */
const longest = 20_000;

/**
 * Matches Markdown syntax that can hide a part of the text: links and images (their addresses), definitions, footnotes,
 * HTML and its comments, entities, formulas, code and tables (folded, or wider than the page).
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

/** Whether rendering the text as Markdown hides no part of it. */
export function isSimpleMarkdown(text: string): boolean {
  if (text.length > longest || hasHidden(text)) return false;
  return !hiding.some((sign) => sign.test(text));
}
