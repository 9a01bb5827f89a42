/** Resolves links and footnotes that are defined in one block of a message and used in other blocks. */
import type { Definition as LinkDefinition, FootnoteDefinition } from 'mdast';
import type { Block, Definition } from './block.ts';

/** Returns the definition of a link or footnote. `text` is the Markdown that contains the node. */
export function readDefinition(
  node: LinkDefinition | FootnoteDefinition,
  text: string,
): Definition {
  const { type, identifier, position } = node;
  if (type === 'definition') {
    return { label: normalized(identifier), source: linkSource(node) };
  }
  const source = text.slice(position?.start.offset, position?.end.offset);
  return { label: `^${normalized(identifier)}`, source };
}

/**
 * Returns the Markdown of a link's definition. The Markdown is made from the parsed values, because the parser gives
 * wrong positions for two consecutive definitions.
 */
function linkSource({ identifier, url, title }: LinkDefinition): string {
  const escaped = (value: string) => value.replaceAll('&', '&amp;').replaceAll(/["<>\\]/g, '\\$&');
  return `[${identifier}]: <${escaped(url)}>${title ? ` "${escaped(title)}"` : ''}`;
}

/** Returns all texts in brackets. Each of them may be a reference. */
export function labelsIn(text: string): ReadonlySet<string> {
  if (!text.includes('[')) return none;
  const labels = new Set<string>();
  /** The index after the bracket that opens a label; 0 if no label is open. */
  let start = 0;
  for (const { 0: mark, index } of text.matchAll(/\\.|[[\]]/gs)) {
    if (mark === '[' || (mark === '\\[' && start === 0)) start = index + mark.length;
    if (mark !== ']') continue;
    if (start > 0 && index > start) labels.add(normalized(text.slice(start, index)));
    start = 0;
  }
  return labels;
}

const none: ReadonlySet<string> = new Set();

/** Normalizes a label in the way in which CommonMark compares labels. */
function normalized(label: string): string {
  return label.replaceAll(/\s+/g, ' ').trim().toLowerCase().toUpperCase();
}

/** A footnote of a message. */
export interface Footnote {
  label: string;
  /** The footnote's number, counted from 1 in the order in which footnotes are first used. */
  number: number;
  /** The Markdown of the definition. */
  source: string;
}

/** The definitions and footnotes that the blocks of a message share. */
export interface References {
  /** The definitions by label. If a label is defined twice, its first definition counts. */
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly footnotes: readonly Footnote[];
}

const noReferences: References = { definitions: new Map(), footnotes: [] };

export function referencesOf(blocks: readonly Block[]): References {
  const definitions = new Map<string, Definition>();
  for (const { defines } of blocks) {
    for (const each of defines) {
      if (!definitions.has(each.label)) definitions.set(each.label, each);
    }
  }
  if (definitions.size === 0) return noReferences;
  return { definitions, footnotes: footnotesOf(blocks, definitions) };
}

/** Returns the footnotes by label. Footnotes that are not used come last, so that all text is shown. */
function footnotesOf(
  blocks: readonly Block[],
  definitions: ReadonlyMap<string, Definition>,
): Footnote[] {
  const sources = new Map<string, string>();
  const add = (label: string) => {
    const definition = definitions.get(label);
    if (!label.startsWith('^') || definition === undefined || sources.has(label)) return;
    sources.set(label, definition.source);
  };
  for (const label of blocks.flatMap((block) => usesIn(block))) add(label);
  // A footnote can refer to other footnotes: the loop also visits the sources that are added during the loop.
  for (const source of sources.values()) {
    for (const label of labelsIn(source)) add(label);
  }
  for (const label of definitions.keys()) add(label);
  return [...sources].map(([label, source], index) => ({ label, number: index + 1, source }));
}

/** Returns the labels that a block uses. A footnote's own definition is not a use. */
function usesIn(block: Block): string[] {
  if (block.code !== undefined) return [];
  const labels = [...block.labels];
  if (block.defines.length === 0) return labels;
  const rest = block.defines.reduce((text, { source }) => text.replace(source, ''), block.raw);
  return [...labelsIn(rest)];
}

/**
 * Returns the definitions to which a block refers, as Markdown that is put in front of the block's Markdown. The block
 * can then be parsed by itself. Empty for most blocks.
 */
export function neededBy(labels: ReadonlySet<string>, { definitions }: References): string {
  if (definitions.size === 0 || labels.size === 0) return '';
  const needed = [...labels].flatMap((label) => definitions.get(label) ?? []);
  if (needed.length === 0) return '';
  // The definition of a footnote is added without its content, because the content is shown at the end of the message.
  const lines = needed.map(({ label, source }) =>
    label.startsWith('^') ? `${source.slice(0, source.indexOf(']:'))}]: .` : source,
  );
  // The last line is a definition that is not used. It ends a footnote, which would otherwise include indented text
  // after it.
  return `${lines.join('\n\n')}\n\n[\u{e000}]: .\n\n`;
}
