/** What a model reads of a call's output, which people see whole: pure. */
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { ShownOutput } from '../base/shown-output.ts';

type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/** Of a text, the beginning and the end (characters): more would fill what most models can take. */
const longest = { head: 60_000, tail: 40_000 };

/** An output of which no part is too long for a model, and none is said twice. */
export function readable(item: CallOutput): CallOutput {
  const { output, blocks } = item;
  const said = shortened(output);
  if (blocks === undefined) return said === output ? item : { ...item, output: said };
  const others = blocks.filter((block) => !isSaid(block, output)).map(readableBlock);
  const { blocks: _, ...words } = item;
  return { ...words, output: said, ...(others.length > 0 && { blocks: others }) };
}

/** Text with a mark where its middle is left out, if it is long. */
function shortened(text: string): string {
  if (text.length <= longest.head + longest.tail) return text;
  let short = '';
  const part = new ShownOutput((more) => void (short += more), longest);
  part.add(text);
  part.end();
  return short;
}

/** A tool of an MCP server gives text both to read and to be shown. */
function isSaid(block: ContentBlock, output: string): boolean {
  if (block.type === 'resource_link') return output.includes(block.uri);
  return block.type === 'resource' && block.resource.text !== undefined
    ? output.includes(block.resource.text)
    : false;
}

function readableBlock(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource' || block.resource.text === undefined) return block;
  return { ...block, resource: { ...block.resource, text: shortened(block.resource.text) } };
}
