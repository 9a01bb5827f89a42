import type { Nodes, RootContent } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { type Processor, unified } from 'unified';
import type { Block } from './block.ts';
import { whyPlain } from './limits.ts';
import { labelsIn, readDefinition } from './references.ts';
import type { Definition } from './block.ts';
import { sectionsOf } from './sections.ts';
import { remarkTex } from './tex-syntax.ts';

const parser = unified().use(remarkParse).use(remarkGfm).use(remarkTex).use(withoutInline);

/** Skips inline parsing, which does not change where blocks begin. Inline parsing happens when a block is rendered. */
function withoutInline(this: Processor): void {
  const data = this.data() as { micromarkExtensions?: unknown[] };
  const inline = ['attention', 'codeText', 'labelStartLink', 'labelStartImage', 'labelEnd'];
  const links = ['autolink', 'emailAutolink', 'protocolAutolink', 'wwwAutolink'];
  const notes = ['gfmFootnoteCall', 'gfmPotentialFootnoteCall'];
  const formulas = ['texDollar', 'texBracket', 'mathText'];
  const others = ['htmlText', 'hardBreakEscape', 'strikethrough'];
  const disable = { null: [...inline, ...links, ...notes, ...formulas, ...others] };
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), { disable }];
}

/** The state of the last split, so that a growing message is not parsed from its start each time. */
export interface SplitState {
  text: string;
  blocks: readonly Block[];
}

export const emptySplit: SplitState = { text: '', blocks: [] };

/**
 * Splits Markdown into blocks. If the Markdown continues the text of `previous`, finished blocks stay the same objects,
 * and only the end is parsed again.
 */
export function splitBlocks(markdown: string, previous: SplitState): SplitState {
  const text = markdown.replace(/\r\n?/g, '\n');
  if (text === previous.text) return previous;
  const kept = text.startsWith(previous.text) ? finished(previous.blocks) : [];
  const start = kept.reduce((sum, block) => sum + block.raw.length, 0);
  return { text, blocks: [...kept, ...readBlocks(text.slice(start), kept.length)] };
}

/**
 * Returns the blocks that later text cannot change: the blocks up to a blank line, except the last two, since a growing
 * line may belong to the block before it.
 */
function finished(blocks: readonly Block[]): readonly Block[] {
  const certain = blocks.slice(0, -2);
  const lastBlank = certain.findLastIndex((block) => /\n[ \t]*\n[ \t]*$/.test(block.raw));
  return certain.slice(0, lastBlank + 1);
}

function readBlocks(text: string, firstKey: number): Block[] {
  const blocks: Block[] = [];
  for (const { raw, code, plain } of sectionsOf(text)) {
    const key = firstKey + blocks.length;
    if (plain !== undefined) blocks.push(plainBlock(key, raw, plain));
    else if (code !== undefined) blocks.push({ key, raw, code, defines: [], labels: new Set() });
    else blocks.push(...parseBlocks(raw, key));
  }
  return blocks;
}

function parseBlocks(text: string, firstKey: number): Block[] {
  const groups = groupOverlapping(parser.parse(text).children);
  return groups.map(([node, ...rest], index) => {
    // Blank lines belong to the block before them, because a list can continue after a blank line.
    const start = index === 0 ? 0 : startOffset(node);
    const next = groups[index + 1];
    const raw = text.slice(start, next === undefined ? text.length : startOffset(next[0]));
    const defines = [node, ...rest].flatMap((one) => definitionsIn(one, text));
    const block = toBlock(node, raw, firstKey + index);
    const plain = block.code === undefined ? whyPlain(raw) : undefined;
    if (plain !== undefined) return plainBlock(firstKey + index, raw, plain);
    return { ...block, defines, labels: labelsIn(raw) };
  });
}

type Group = [RootContent, ...RootContent[]];

/** Groups nodes whose positions overlap: the parser gives overlapping positions for two consecutive definitions. */
function groupOverlapping(nodes: readonly RootContent[]): Group[] {
  const groups: Group[] = [];
  for (const node of nodes) {
    const last = groups.at(-1);
    if (last === undefined || startOffset(node) > startOffset(last[0])) groups.push([node]);
    else last.push(node);
  }
  return groups;
}

function startOffset(node: RootContent): number {
  return node.position?.start.offset ?? 0;
}

/** Returns the definitions in a node. A definition inside a list or quote applies to the whole message. */
function definitionsIn(node: Nodes, text: string): Definition[] {
  const isOne = node.type === 'definition' || node.type === 'footnoteDefinition';
  const inside = 'children' in node ? node.children.flatMap((one) => definitionsIn(one, text)) : [];
  return isOne ? [readDefinition(node, text), ...inside] : inside;
}

function toBlock(node: RootContent, raw: string, key: number): Pick<Block, 'key' | 'raw' | 'code'> {
  const fence = /^\s*?(`{3,}|~{3,})/.exec(raw)?.[1];
  if (node.type !== 'code' || fence === undefined) return { key, raw };
  const lines = raw.trim().split('\n');
  const open = lines.length < 2 || !lines.at(-1)?.trimStart().startsWith(fence);
  return { key, raw, code: { text: node.value, lang: node.lang ?? '', open } };
}

/** Returns a block of plain text. Such a block has no references and no definitions. */
function plainBlock(key: number, raw: string, plain: string): Block {
  return { key, raw, plain, defines: [], labels: new Set() };
}
