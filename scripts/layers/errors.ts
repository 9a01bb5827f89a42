import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNode, nodesIn, parseFile } from './syntax.ts';

/** The file with all errors of a package. */
const tables = [
  'packages/agents/src/contract/errors.ts',
  'packages/cli/src/errors.ts',
  'packages/runtime/src/errors.ts',
  'packages/server/src/errors.ts',
  'packages/storage/src/errors.ts',
];

interface Node {
  type: string;
  [field: string]: unknown;
}

interface Source {
  file: string;
  text: string;
  nodes: Node[];
}

/**
 * Lists the errors that are made outside the table of their package, and the rows of the tables that no code uses. Tests
 * make errors as they like.
 */
export function findErrors(root: string): string[] {
  const read = (file: string): Source => {
    const path = join(root, file);
    return { file, text: readFileSync(path, 'utf8'), nodes: nodesIn(parseFile(path)) as Node[] };
  };
  const packages = tables.map((table) => /^packages\/([^/]+)/.exec(table)?.[1]);
  const users = globSync(`packages/{${packages.join(',')}}/src/**/*.ts`, { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\//.test(file) && !tables.includes(file))
    .toSorted()
    .map(read);
  const found = tables.map(read);
  const classes = new Set(['LiminalError', ...found.flatMap(classesOf)]);
  return [
    ...users.flatMap((source) => madeHere(source, classes)),
    ...found.flatMap((source) => unusedRows(source, users)),
  ];
}

function madeHere({ file, nodes }: Source, classes: ReadonlySet<string>): string[] {
  const foreign = new Set(nodes.flatMap(namesFromLibraries));
  return nodes
    .filter(({ type }) => type === 'NewExpression')
    .map(({ callee }) => nameOf(callee))
    .filter((name) => classes.has(name) && !foreign.has(name))
    .map(
      (name) =>
        `errors: ${file} makes a ${name}. Add a row to the package's table of errors, and make the error by the row.`,
    );
}

/** Code that takes the code of an error from a variable. */
const picksCode = /[eE]rrors\[/;

function unusedRows(table: Source, users: readonly Source[]): string[] {
  const rows = rowsOf(table);
  if (rows.length === 0) return [`errors: ${table.file} has no table.`];
  return rows
    .filter(({ code, name }) => {
      const word = new RegExp(String.raw`\b${name}\b`);
      return !users.some(
        ({ text }) => (text.includes(code) || picksCode.test(text)) && word.test(text),
      );
    })
    .map(({ code, name }) => `errors: no code uses ${code}.${name} of ${table.file}. Remove it.`);
}

/** The rows of the objects that a file passes to `errorTable`. */
function rowsOf({ nodes }: Source): { code: string; name: string }[] {
  const named = nodes
    .filter((node) => node.type === 'CallExpression' && nameOf(node['callee']) === 'errorTable')
    .map((node) => nameOf((node['arguments'] as { expression: Node }[])[0]?.expression));
  return nodes
    .filter((node) => node.type === 'VariableDeclarator' && named.includes(nameOf(node['id'])))
    .flatMap((node) => propertiesOf(node['init']))
    .flatMap(([code, sentences]) => propertiesOf(sentences).map(([name]) => ({ code, name })));
}

/** The keys of an object literal with their values; a shorthand property has no value. */
function propertiesOf(object: unknown): [key: string, value: unknown][] {
  if (!isNode(object) || object.type !== 'ObjectExpression') return [];
  return ((object as Node)['properties'] as Node[]).map((property) =>
    property.type === 'Identifier'
      ? [nameOf(property), undefined]
      : [nameOf(property['key']), property['value']],
  );
}

function classesOf({ nodes }: Source): string[] {
  return nodes
    .filter(({ type }) => type === 'ClassDeclaration')
    .map(({ identifier }) => nameOf(identifier));
}

/** The names that an import takes from a library: a library's class may have the name of one of ours. */
function namesFromLibraries(node: Node): string[] {
  if (node.type !== 'ImportDeclaration') return [];
  const from = (node['source'] as { value: string }).value;
  if (from.startsWith('.') || from.startsWith('@liminal/')) return [];
  return (node['specifiers'] as Node[]).map(({ local }) => nameOf(local));
}

const nameOf = (node: unknown): string =>
  isNode(node) && node.type === 'Identifier' && 'value' in node ? String(node.value) : '';
