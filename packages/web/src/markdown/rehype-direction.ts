import type { Element, Root } from 'hast';

/** Elements whose text direction follows their own content. */
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
 * Sets the text direction of each block by the block's first letter; paragraphs in a list item or quote inherit the
 * item's or quote's direction.
 */
export function rehypeDirection() {
  return (tree: Root) => direct(tree);
}

function direct(parent: Root | Element): void {
  for (const node of parent.children) {
    if (node.type !== 'element') continue;
    // `dir="auto"` ignores children with a `dir` of their own, so a list item or quote with such children would get no
    // direction.
    const isInside = 'tagName' in parent && /^(?:li|blockquote)$/.test(parent.tagName);
    if (blocks.has(node.tagName) && !(isInside && node.tagName === 'p')) {
      node.properties['dir'] = 'auto';
    }
    direct(node);
  }
}
