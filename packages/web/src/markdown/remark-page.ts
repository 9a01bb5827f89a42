import type { Nodes, Root } from 'mdast';

/** Formulas that stand by themselves, though they are written within a line. */
const displayed = /^(?:\$\$|\\\[)/;

/**
 * What this page makes of some pieces of Markdown: a footnote's mark is a `sup` with the footnote's label, since its
 * number is not known here; `<br>` in a line is a line break, and no other HTML is anything but text.
 */
export function remarkPage() {
  return (tree: Root, file: { toString: () => string }) => change(tree, file.toString());
}

/** Leaves of a definition of a footnote, the last there is, its content. */
export function remarkNote() {
  return (tree: Root) => {
    const note = tree.children.findLast((node) => node.type === 'footnoteDefinition');
    if (note === undefined) return;
    // What links lead to is looked up in the tree.
    const links = tree.children.filter((node) => node.type === 'definition');
    tree.children = [...links, ...note.children];
  };
}

function change(parent: Nodes, source: string): void {
  if (!('children' in parent)) return;
  for (const [index, node] of parent.children.entries()) {
    switch (node.type) {
      case 'footnoteReference': {
        const { label, identifier, position } = node;
        const hProperties = { dataFootnote: label ?? identifier };
        const mark = {
          type: 'emphasis',
          children: [],
          data: { hName: 'sup', hProperties },
        } as const;
        parent.children[index] = { ...mark, children: [], ...(position && { position }) };
        break;
      }
      case 'html':
        if (isInLine(parent) && /^<br\s*\/?>$/i.test(node.value)) {
          parent.children[index] = { type: 'break' };
        }
        break;
      case 'inlineMath': {
        const start = node.position?.start.offset ?? 0;
        const isDisplayed = displayed.test(source.slice(start, start + 2));
        const place = isDisplayed ? 'math-display' : 'math-inline';
        node.data = { ...node.data, hName: 'code', hProperties: { className: [place] } };
        break;
      }
      default:
        change(node, source);
    }
  }
}

function isInLine({ type }: Nodes): boolean {
  return type !== 'root' && type !== 'listItem' && type !== 'blockquote';
}
