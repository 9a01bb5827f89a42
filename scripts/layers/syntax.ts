import { type Node, parseSync } from '@swc/core';
import { readFileSync } from 'node:fs';

/** Returns the syntax tree of a TypeScript file. */
export const parseFile = (path: string): Node[] =>
  parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript' }).body;

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** Returns all nodes of a syntax tree. */
export function nodesIn(tree: unknown): Node[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const children = Object.values(tree).flatMap(nodesIn);
  return isNode(tree) ? [tree, ...children] : children;
}
