// This tokenizer accepts any malformed markup and needs no recursion; other sites' markup has too many special cases
// for a parser of our own.
import { headOf } from '@liminal/protocol';
import { Parser } from 'htmlparser2';

/** HTML elements whose content is not text for people. */
const unread = new Set(
  'script style noscript template svg math iframe object canvas title'.split(' '),
);
/** HTML elements that begin a new line. */
const blocks = new Set(
  'address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
/** The longest title that is shown, in characters. */
const maxTitle = 1_000;
/** The longest URL of a link that is shown, in characters. */
const maxLink = 500;
/** The deepest markup that is read, because the parser compares each end tag with every open element. */
const maxDepth = 500;
/** The most characters of text that are read, including spaces; a model gets far fewer. */
const maxText = 1024 * 1024;
const chunkLength = 1024;

export interface PageText {
  text: string;
  /** Whether the page has more text than was read. */
  isCut: boolean;
}

/** Converts an HTML page to text for a model: without tags, but with headings, list items and links in Markdown. */
export function htmlText(html: string): PageText {
  const parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    if (part !== '') parts.push(part);
    length += part.length;
  };
  let title = '';
  let [isTitle, open, depth, pre] = [false, 0, 0, 0];
  const links: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      open += 1;
      if (name === 'title' && title === '') isTitle = true;
      if (unread.has(name)) depth += 1;
      if (depth > 0) return;
      if (name === 'pre') pre += 1;
      if (blocks.has(name)) add('\n');
      if (name === 'li') add('- ');
      if (/^h[1-6]$/.test(name)) add(`${'#'.repeat(Number(name[1]))} `);
      if (name === 'a') links.push(linkOf(attributes['href']));
      if (name === 'img' && attributes['alt']) add(`[${attributes['alt']}]`);
    },
    ontext(text) {
      if (isTitle) title += headOf(text, maxTitle - title.length);
      if (depth === 0) add(pre > 0 ? text : text.replace(/\s+/g, ' '));
    },
    onclosetag(name) {
      open -= 1;
      if (name === 'title') isTitle = false;
      if (unread.has(name)) depth -= 1;
      if (depth > 0) return;
      if (name === 'pre') pre -= 1;
      if (name === 'a') add(links.pop() ?? '');
      if (blocks.has(name)) add('\n');
    },
  });
  let at = 0;
  for (; at < html.length && open < maxDepth && length < maxText; at += chunkLength) {
    parser.write(html.slice(at, at + chunkLength));
  }
  parser.end();
  const lines = headOf(parts.join(''), maxText).split('\n');
  const text = lines
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const heading = title.trim().replace(/\s+/g, ' ');
  return {
    text: heading === '' ? text : `${heading}\n\n${text}`,
    isCut: at < html.length || length > maxText,
  };
}

const linkOf = (href: string | undefined): string =>
  href !== undefined && /^(https?:|\/)/i.test(href) && href.length <= maxLink ? ` (${href})` : '';
