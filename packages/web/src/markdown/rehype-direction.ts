import type { Element, Root } from 'hast';

/** Elements whose text direction depends on their own content. */
const blocks = new Set([
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'blockquote',
  'td',
  'th',
]);

/**
 * Sets the text direction of each block by the block's first letter. A paragraph in a list item or quote inherits the
 * direction of the item or quote.
 */
export function rehypeDirection() {
  return (tree: Root) => direct(tree);
}

function direct(parent: Root | Element): void {
  for (const node of parent.children) {
    if (node.type !== 'element') continue;
    // `dir="auto"` ignores children that have their own `dir`, so a list item or quote with only such children would
    // have no direction.
    const isInside = 'tagName' in parent && /^(?:li|blockquote)$/.test(parent.tagName);
    if (blocks.has(node.tagName) && !(isInside && node.tagName === 'p')) {
      node.properties['dir'] = 'auto';
    }
    direct(node);
  }
}
