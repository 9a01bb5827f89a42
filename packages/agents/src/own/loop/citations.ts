/** The sources that makers report with a model's text, and the list of these sources for people. */
import { isRecord } from '../../base/parse-line.ts';
import { oneLine } from '../../base/titles.ts';

/** A page or a file that an answer cites. */
export interface Citation {
  title: string;
  /** Undefined for a file. */
  url: string | undefined;
}

/** The most citations that are listed for one answer. */
const maxListed = 100;

/**
 * Returns the citations among a maker's annotations. An annotation refers to a page (`url`, `source`) or to a file
 * (`filename`, `document_title`). In Chat Completions, the annotation's fields are in a field with the name of its
 * type.
 */
export function citationsIn(annotations: readonly unknown[]): Citation[] {
  return annotations.flatMap((annotation) => {
    if (!isRecord(annotation)) return [];
    const { type } = annotation;
    const inner = typeof type === 'string' ? annotation[type] : undefined;
    const fields = isRecord(inner) ? inner : annotation;
    const [url] = textsIn(fields, ['url', 'source']).filter(isAddress);
    const [title = url] = textsIn(fields, ['title', 'filename', 'document_title']);
    return title === undefined ? [] : { title, url };
  });
}

/** Returns the field of an answer that has the citations. */
export const withCitations = (citations: readonly Citation[]): { citations?: typeof citations } =>
  citations.length === 0 ? {} : { citations };

/**
 * Returns a Markdown list of the citations that the texts do not contain yet, each citation once, at its first
 * position. Returns undefined if the texts contain all citations.
 * @param texts - The model's messages, and earlier lists.
 */
export function sourcesOf(
  citations: readonly Citation[],
  texts: readonly string[],
): string | undefined {
  const isNew = ({ title, url = title }: Citation): boolean =>
    !texts.some((text) => text.includes(url));
  const places = Map.groupBy(citations.filter(isNew), ({ url, title }) => url ?? title);
  const found = [...places.values()].flatMap(([first]) => first ?? []);
  if (found.length === 0) return undefined;
  const more = found.length - maxListed;
  return [
    'Sources of the answer:',
    '',
    ...found.slice(0, maxListed).map(lineOf),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join('\n');
}

function lineOf({ title, url }: Citation): string {
  // Escape only the Markdown that would have an effect here, because terminals show the backslashes.
  const words = oneLine(title).replaceAll(/[\\`*_[\]<&~]|^[#>+-]/g, String.raw`\$&`);
  if (url === undefined) return `- ${words}`;
  return `- [${words}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}

/** Returns whether the text is a URL that can be the target of a Markdown link without changes. */
const isAddress = (text: string): boolean => /^https?:\/\/[^\s<>\\]+$/i.test(text);

const textsIn = (fields: Record<string, unknown>, names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : [];
  });
