/** Shortens a call's output for the model; people see the whole output. Pure. */
import type { ContentBlock, OutputItem } from '@liminal/protocol';
import { ShownOutput } from '../../base/shown-output.ts';

type CallOutput = Extract<OutputItem, { type: 'function_call_output' }>;

/**
 * How many characters of a text the model gets from the beginning and from the end. More characters would fill the
 * context of most models.
 */
const longest = { head: 60_000, tail: 40_000 };

/** Returns the output with its long parts shortened, and without parts that are repeated. */
export function shortenOutput(item: CallOutput): CallOutput {
  const { output, blocks } = item;
  const shortText = shortened(output);
  if (blocks === undefined) return shortText === output ? item : { ...item, output: shortText };
  const others = blocks.filter((block) => !isRepeatedIn(block, output)).map(readableBlock);
  const { blocks: _, ...words } = item;
  return { ...words, output: shortText, ...(others.length > 0 && { blocks: others }) };
}

/** Returns the text. In a long text, a note replaces the middle. */
function shortened(text: string): string {
  if (text.length <= longest.head + longest.tail) return text;
  let short = '';
  const part = new ShownOutput((more) => void (short += more), longest);
  part.add(text);
  part.end();
  return short;
}

/**
 * Returns whether the block repeats the text of the output: MCP tools return the same text for the model and for
 * people.
 */
function isRepeatedIn(block: ContentBlock, output: string): boolean {
  if (block.type === 'resource_link') return output.includes(block.uri);
  return block.type === 'resource' && block.resource.text !== undefined
    ? output.includes(block.resource.text)
    : false;
}

function readableBlock(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource' || block.resource.text === undefined) return block;
  return { ...block, resource: { ...block.resource, text: shortened(block.resource.text) } };
}
