import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Node,
  parseSync,
  type TsInterfaceDeclaration,
  type TsType,
  type TsTypeElement,
} from '@swc/core';

/**
 * The most functions that a class or function may need from its creator. If a class needs more functions, join it with
 * its creator, or pass it the object that it calls.
 */
const maxCallbacks = 3;

/**
 * Lists the `…Options` types with more than `maxCallbacks` functions, including those of nested literals and of
 * extended interfaces. Props of the page's components are not counted.
 */
export function findCallbacks(root: string): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root });
  const found = files
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('packages/web/'))
    .flatMap((file) => {
      const { body } = parseSync(readFileSync(join(root, file), 'utf8'), { syntax: 'typescript' });
      return body
        .map((statement) =>
          statement.type === 'ExportDeclaration' ? statement.declaration : statement,
        )
        .filter((node) => isInterface(node))
        .map((node) => ({ file, name: node.id.value, node }));
    });
  const byName = new Map(found.map(({ name, node }) => [name, node]));
  return found
    .filter(({ name }) => name.endsWith('Options'))
    .map(({ file, name, node }) => ({ file, name, callbacks: functionsOf(node, byName).length }))
    .filter(({ callbacks }) => callbacks > maxCallbacks)
    .map(
      ({ file, name, callbacks }) =>
        `callbacks: ${file} needs ${callbacks} functions in its ${name}, of at most ${maxCallbacks}. Join it with its maker, or give it the object that it talks to.`,
    );
}

const isInterface = (node: Node): node is TsInterfaceDeclaration =>
  node.type === 'TsInterfaceDeclaration';

type ByName = ReadonlyMap<string, TsInterfaceDeclaration>;

/** The names of the functions, including those of extended interfaces. */
function functionsOf(node: TsInterfaceDeclaration, byName: ByName): string[] {
  const inherited = node.extends.flatMap(({ expression, typeArguments }) => {
    const base = expression.type === 'Identifier' ? expression.value : '';
    const [of, keys] = typeArguments?.params ?? [];
    const isPart = base === 'Omit' || base === 'Pick';
    const from = byName.get(isPart ? nameOf(of) : base);
    if (from === undefined) return [];
    const all = functionsOf(from, byName);
    if (!isPart) return all;
    const named = new Set(literalsIn(keys));
    return all.filter((name) => named.has(name) === (base === 'Pick'));
  });
  return [...functionsIn(node.body.body), ...inherited];
}

function functionsIn(members: readonly TsTypeElement[]): string[] {
  return members.flatMap((member) => {
    if (member.type !== 'TsMethodSignature' && member.type !== 'TsPropertySignature') return [];
    const name = member.key.type === 'Identifier' ? member.key.value : '';
    if (member.type === 'TsMethodSignature') return [name];
    const type = member.typeAnnotation?.typeAnnotation;
    if (isFunction(type)) return [name];
    // Each function of a nested object literal counts. The functions have the name of the object's field, because
    // `Omit` and `Pick` choose whole fields.
    return type?.type === 'TsTypeLiteral' ? functionsIn(type.members).map(() => name) : [];
  });
}

function isFunction(type: TsType | undefined): boolean {
  if (type?.type === 'TsParenthesizedType') return isFunction(type.typeAnnotation);
  if (type?.type === 'TsUnionType') return type.types.some(isFunction);
  return type?.type === 'TsFunctionType';
}

const nameOf = (type: TsType | undefined): string =>
  type?.type === 'TsTypeReference' && type.typeName.type === 'Identifier'
    ? type.typeName.value
    : '';

function literalsIn(type: TsType | undefined): string[] {
  if (type?.type === 'TsUnionType') return type.types.flatMap(literalsIn);
  const isText = type?.type === 'TsLiteralType' && type.literal.type === 'StringLiteral';
  return isText && 'value' in type.literal ? [String(type.literal.value)] : [];
}
