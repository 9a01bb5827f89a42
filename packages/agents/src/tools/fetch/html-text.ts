// A tokenizer for any tag soup, without recursion: markup from strangers has no end of corners.
import { Parser } from 'htmlparser2';

/** Elements whose content is not text for people. */
const unread = new Set(
  'script style noscript template svg math iframe object canvas title'.split(' '),
);
/** Elements that begin on a line of their own. */
const blocks = new Set(
  'address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
/** The longest address of a link that is shown (characters). */
const maxLink = 500;
/** A page with more elements inside each other is read no further: the tokenizer would take for ever. */
const maxDepth = 5_000;
const chunkLength = 16 * 1024;

/** The text of an HTML page for a model: headings, list items and links marked as in Markdown, and no tag. */
export function htmlText(html: string): string {
  const parts: string[] = [];
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
      if (blocks.has(name)) parts.push('\n');
      if (name === 'li') parts.push('- ');
      if (/^h[1-6]$/.test(name)) parts.push(`${'#'.repeat(Number(name[1]))} `);
      if (name === 'a') links.push(linkOf(attributes['href']));
      if (name === 'img' && attributes['alt']) parts.push(`[${attributes['alt']}]`);
    },
    ontext(text) {
      if (isTitle) title += text;
      if (depth === 0) parts.push(pre > 0 ? text : text.replace(/\s+/g, ' '));
    },
    onclosetag(name) {
      open -= 1;
      if (name === 'title') isTitle = false;
      if (unread.has(name)) depth -= 1;
      if (depth > 0) return;
      if (name === 'pre') pre -= 1;
      if (name === 'a') parts.push(links.pop() ?? '');
      if (blocks.has(name)) parts.push('\n');
    },
  });
  for (let at = 0; at < html.length && open < maxDepth; at += chunkLength) {
    parser.write(html.slice(at, at + chunkLength));
  }
  parser.end();
  const text = parts
    .join('')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n[ \t]+(?=\S)/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const heading = title.trim().replace(/\s+/g, ' ');
  return heading === '' ? text : `${heading}\n\n${text}`;
}

const linkOf = (href: string | undefined): string =>
  href !== undefined && /^(https?:|\/)/i.test(href) && href.length <= maxLink ? ` (${href})` : '';
