import type { Nodes, Root } from 'mdast';

/** Matches the delimiters of display formulas, even within a line. */
const displayed = /^(?:\$\$|\\\[)/;

/**
 * Adapts some nodes to this page: a reference to a footnote becomes a `sup` with the footnote's label, since the
 * footnote's number is not known here; `<br>` within a line becomes a line break; all other HTML becomes text.
 */
export function remarkPage() {
  return (tree: Root, file: { toString: () => string }) => change(tree, file.toString());
}

/** Replaces the tree by the content of its last footnote definition. */
export function remarkNote() {
  return (tree: Root) => {
    const note = tree.children.findLast((node) => node.type === 'footnoteDefinition');
    if (note === undefined) return;
    // The targets of links are looked up in the tree, so keep the definitions.
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
