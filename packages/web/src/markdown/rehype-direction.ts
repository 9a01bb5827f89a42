import type { Element, Root } from 'hast';

/** Elements that take the direction of their own words. */
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

/** Gives each block of text the direction of its first letter; blocks inside a list or quote follow that. */
export function rehypeDirection() {
  return (tree: Root) => direct(tree);
}

function direct(parent: Root | Element): void {
  for (const node of parent.children) {
    if (node.type !== 'element') continue;
    // A browser ignores children with a direction of their own: a list of such items would have none.
    const isInside = 'tagName' in parent && /^(?:li|blockquote)$/.test(parent.tagName);
    if (blocks.has(node.tagName) && !(isInside && node.tagName === 'p')) {
      node.properties['dir'] = 'auto';
    }
    direct(node);
  }
}
