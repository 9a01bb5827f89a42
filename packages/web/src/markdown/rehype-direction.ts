import type { Element, Root } from 'hast';

/** Each of them is read in the direction of its own words. */
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

/** Gives each block of text the direction of its first letter; what stands inside of a list or quote follows it. */
export function rehypeDirection() {
  return (tree: Root) => direct(tree);
}

function direct(parent: Root | Element): void {
  for (const node of parent.children) {
    if (node.type !== 'element') continue;
    // A browser looks past what has a direction of its own: a list with such items would have none.
    const isInside = 'tagName' in parent && /^(?:li|blockquote)$/.test(parent.tagName);
    if (blocks.has(node.tagName) && !(isInside && node.tagName === 'p')) {
      node.properties['dir'] = 'auto';
    }
    direct(node);
  }
}
