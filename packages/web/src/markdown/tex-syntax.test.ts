import type { Nodes } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';
import { expect, it } from 'vitest';
import { remarkTex } from './tex-syntax.ts';

const parser = unified().use(remarkParse).use(remarkGfm).use(remarkTex);

/** Returns the formulas of a text. Display formulas are between double bars. */
function formulas(text: string): string[] {
  const found: string[] = [];
  const look = (node: Nodes) => {
    if (node.type === 'inlineMath') found.push(node.value);
    if (node.type === 'math') found.push(`‖${node.value}‖`);
    if ('children' in node) for (const child of node.children) look(child);
  };
  look(parser.parse(text));
  return found;
}

it.each([
  ['Euler: $e^{i\\pi} = -1$.', ['e^{i\\pi} = -1']],
  ['$x$, ($y$) and $2$', ['x', 'y', '2']],
  ['$a_1 * b_2 * c_3$', ['a_1 * b_2 * c_3']],
  ['$\\$5 + x$', ['\\$5 + x']],
  ['$2 + 3$', ['2 + 3']],
  ['$$a$$ in a line', ['a']],
  ['$$\na\n\nb\n$$', ['‖a\n\nb‖']],
  ['\\(x\\) and \\(a_b\\)', ['x', 'a_b']],
  ['\\(a +\nb\\)', ['a +\nb']],
  ['So \\[ a = b \\] holds', [' a = b ']],
  ['\\[\na\n- b\n+ c\n= d\n\\]\nend', ['‖a\n- b\n+ c\n= d‖']],
  ['So\n\\[\n\\frac{a}{b}\n\\]', ['‖\\frac{a}{b}‖']],
  ['- one\n  \\[\n  a\n  \\]\n- two', ['‖a‖']],
  ['> \\[\n> a\n> \\]\n\nend', ['‖a‖']],
  ['\\[\na \\\\[2pt] b\n\\]', ['‖a \\\\[2pt] b‖']],
])('the text %s contains the formulas %j', (text, found) => {
  expect(formulas(text)).toEqual(found);
});

it.each([
  '$5 and $6',
  'from $5-$6, or 7$',
  'It costs $5 or 6$ here',
  'US$5 and A$6',
  '$HOME/$USER and $PATH',
  '$(pwd)$(ls)',
  '$1,$2',
  'a $ b $ c',
  '`$x$`',
  '```\n$x$\n```',
  '\\$x\\$',
  '\\[1\\] and \\[link\\]',
  '\\(see below\\)',
  'f\\(',
  '$x\ny$',
  '$',
  '\\',
])('the text %s contains no formula', (text) => {
  expect(formulas(text)).toEqual([]);
});
