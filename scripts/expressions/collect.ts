import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';

/** A regular expression in the code. */
export interface Expression {
  file: string;
  line: number;
  /** The expression as it is written in the source code. */
  code: string;
  /** The source and flags; undefined for an expression whose text is known only at run time. */
  known: { source: string; flags: string } | undefined;
}

interface Node {
  type: string;
  span: { start: number; end: number };
  [field: string]: unknown;
}

/** Returns the regular expressions of a file: literals, and the arguments of `RegExp`. */
export function collectExpressions(root: string, file: string): Expression[] {
  const bytes = readFileSync(join(root, file));
  const tsx = file.endsWith('x');
  const module: unknown = parseSync(bytes.toString(), { syntax: 'typescript', tsx });
  const nodes = [...nodesIn(module)];
  const constants = constantsOf(nodes);
  return nodes.flatMap((node) => {
    const [source, flags] = partsOf(node);
    if (source === undefined) return [];
    const text = textOf(source, constants);
    const flagText = flags === undefined ? '' : textOf(flags, constants);
    // Positions in a parsed file are counted in bytes, from 1.
    const start = node.span.start - 1;
    const code = bytes.subarray(start, node.span.end - 1).toString();
    const line = bytes.subarray(0, start).toString().split('\n').length;
    const isKnown = text !== undefined && flagText !== undefined;
    return [{ file, line, code, known: isKnown ? { source: text, flags: flagText } : undefined }];
  });
}

function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const one of value) yield* nodesIn(one);
  else if (typeof value === 'object' && value !== null) {
    if (isNode(value)) yield value;
    for (const one of Object.values(value)) yield* nodesIn(one);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'span' in value;

/** Returns the constants of a file by name; the value is undefined for a name that is declared twice. */
function constantsOf(nodes: readonly Node[]): Map<string, Node | undefined> {
  const constants = new Map<string, Node | undefined>();
  for (const node of nodes) {
    if (node.type !== 'VariableDeclaration') continue;
    for (const { id, init } of node['declarations'] as { id: Node; init: unknown }[]) {
      if (id.type !== 'Identifier') continue;
      const name = id['value'] as string;
      const isOne = node['kind'] === 'const' && !constants.has(name) && isNode(init);
      constants.set(name, isOne ? init : undefined);
    }
  }
  return constants;
}

/** Returns the nodes of an expression's source and flags; empty if the node is not a regular expression. */
function partsOf(node: Node): [source?: Node, flags?: Node] {
  if (node.type === 'RegExpLiteral') {
    const literal = (value: unknown): Node => ({ ...node, type: 'StringLiteral', value });
    return [literal(node['pattern']), literal(node['flags'])];
  }
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return [];
  const callee = node['callee'] as Node;
  if (callee.type !== 'Identifier' || callee['value'] !== 'RegExp') return [];
  const given = (node['arguments'] ?? []) as { expression: Node }[];
  return [given[0]?.expression, given[1]?.expression];
}

/** Returns the text of a node; undefined if the text is known only at run time. */
function textOf(node: Node, constants: Map<string, Node | undefined>): string | undefined {
  switch (node.type) {
    case 'StringLiteral':
      return node['value'] as string;
    case 'Identifier': {
      const constant = constants.get(node['value'] as string);
      return constant && textOf(constant, constants);
    }
    case 'RegExpLiteral':
      return node['pattern'] as string;
    case 'TemplateLiteral':
      return joined(node, 'cooked', constants);
    case 'CallExpression': {
      // The node is `[…].join(…)` of constant texts.
      const callee = node['callee'] as Node;
      const list = callee['object'] as Node | undefined;
      const [given] = node['arguments'] as { expression: Node }[];
      if (list?.type !== 'ArrayExpression' || given === undefined) return undefined;
      const parts = (list['elements'] as ({ expression: Node } | undefined)[]).map(
        (one) => one && textOf(one.expression, constants),
      );
      const isJoin = (callee['property'] as Node)['value'] === 'join';
      const separator = textOf(given.expression, constants);
      return isJoin && !parts.includes(undefined) ? parts.join(separator) : undefined;
    }
    case 'TaggedTemplateExpression':
      return joined(node['template'] as Node, 'raw', constants);
    default:
      return undefined;
  }
}

function joined(
  template: Node,
  kind: 'cooked' | 'raw',
  constants: Map<string, Node | undefined>,
): string | undefined {
  const quasis = template['quasis'] as Record<'cooked' | 'raw', string>[];
  const expressions = template['expressions'] as Node[];
  const values = expressions.map((one) => textOf(one, constants));
  if (values.includes(undefined)) return undefined;
  return quasis.map((quasi, at) => quasi[kind] + (values[at] ?? '')).join('');
}
