import { globSync } from 'node:fs';
import { join } from 'node:path';
import type {
  ClassDeclaration,
  ClassMethod,
  Constructor,
  FunctionDeclaration,
  Node,
  Param,
  TsInterfaceDeclaration,
  TsParameterProperty,
  TsType,
  TsTypeAliasDeclaration,
  TsTypeElement,
  VariableDeclarator,
} from '@swc/core';
import { nodesIn, parseFile } from './syntax.ts';

/**
 * The most functions that a class or function may take from its caller. If a class needs more, join the class with its
 * creator, or pass it the object whose methods the functions would call.
 */
const maxCallbacks = 3;

/**
 * Lists the constructors, functions, methods and `…Options` types whose parameters or fields contain more than
 * `maxCallbacks` functions. Functions in nested literals and in extended interfaces count. The page's components are
 * not checked.
 */
export function findCallbacks(root: string): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('packages/web/'))
    .map((file) => ({ file, nodes: nodesIn(parseFile(join(root, file))) }));
  const all = files.flatMap(({ nodes }) => nodes);
  const types: Types = {
    interfaces: new Map(all.filter(isInterface).map((node) => [node.id.value, node])),
    aliases: new Map(all.filter(isAlias).map((node) => [node.id.value, node.typeAnnotation])),
  };
  return files.flatMap(({ file, nodes }) =>
    nodes
      .flatMap((node) => countsOf(node, types))
      .filter(({ callbacks }) => callbacks > maxCallbacks)
      .map(
        ({ name, callbacks }) =>
          `callbacks: ${file} needs ${callbacks} functions in its ${name}, but at most ${maxCallbacks} are allowed. Join it with its creator, or pass it the object whose methods it calls.`,
      ),
  );
}

interface Types {
  interfaces: ReadonlyMap<string, TsInterfaceDeclaration>;
  aliases: ReadonlyMap<string, TsType>;
}

interface Count {
  name: string;
  callbacks: number;
}

const isInterface = (node: Node): node is TsInterfaceDeclaration =>
  node.type === 'TsInterfaceDeclaration';
const isAlias = (node: Node): node is TsTypeAliasDeclaration =>
  node.type === 'TsTypeAliasDeclaration';
const isClass = (node: Node): node is ClassDeclaration => node.type === 'ClassDeclaration';
const isFunction = (node: Node): node is FunctionDeclaration => node.type === 'FunctionDeclaration';
const isMethod = (node: Node): node is ClassMethod => node.type === 'ClassMethod';
const isVariable = (node: Node): node is VariableDeclarator => node.type === 'VariableDeclarator';

/**
 * Returns how many functions a declaration takes; empty if the node is not a declaration that takes parameters or
 * options.
 */
function countsOf(node: Node, types: Types): Count[] {
  if (isInterface(node)) {
    const name = node.id.value;
    return name.endsWith('Options') ? [{ name, callbacks: functionsOf(node, types).length }] : [];
  }
  const count = (name: string, parameters: readonly Node[]): Count[] => {
    const callbacks = parameters.flatMap((one) => functionsOfType(typeOf(one), types)).length;
    return [{ name, callbacks }];
  };
  if (isClass(node)) {
    const isConstructor = (member: Node): member is Constructor => member.type === 'Constructor';
    return node.body
      .filter(isConstructor)
      .flatMap(({ params }) => count(node.identifier.value, params));
  }
  if (isFunction(node)) return count(node.identifier.value, node.params);
  if (isMethod(node) && node.key.type === 'Identifier')
    return count(node.key.value, node.function.params);
  if (isVariable(node) && node.init?.type === 'ArrowFunctionExpression')
    return count(node.id.type === 'Identifier' ? node.id.value : '', node.init.params);
  return [];
}

/** Returns the type of a parameter; undefined if the type is inferred. */
function typeOf(parameter: Node): TsType | undefined {
  const { pat, param } = parameter as Partial<Param & TsParameterProperty>;
  const inner = pat ?? param ?? parameter;
  const { left, typeAnnotation } = inner as {
    left?: Node;
    typeAnnotation?: { typeAnnotation: TsType };
  };
  return left === undefined ? typeAnnotation?.typeAnnotation : typeOf(left);
}

/**
 * Returns the functions in a parameter's type: one if the type itself is a function, otherwise those among its fields.
 */
function functionsOfType(type: TsType | undefined, types: Types): string[] {
  if (isFunctionType(type, types)) return [''];
  if (type?.type === 'TsTypeLiteral') return functionsIn(type.members, types);
  if (type?.type === 'TsIntersectionType')
    return type.types.flatMap((each) => functionsOfType(each, types));
  const name = nameOf(type);
  const options = name.endsWith('Options') ? types.interfaces.get(name) : undefined;
  return options ? functionsOf(options, types) : [];
}

/** Returns the names of an interface's functions, including those of extended interfaces. */
function functionsOf(node: TsInterfaceDeclaration, types: Types): string[] {
  const inherited = node.extends.flatMap(({ expression, typeArguments }) => {
    const base = expression.type === 'Identifier' ? expression.value : '';
    const [of, keys] = typeArguments?.params ?? [];
    const isPart = base === 'Omit' || base === 'Pick';
    const from = types.interfaces.get(isPart ? nameOf(of) : base);
    if (from === undefined) return [];
    const all = functionsOf(from, types);
    if (!isPart) return all;
    const named = new Set(literalsIn(keys));
    return all.filter((name) => named.has(name) === (base === 'Pick'));
  });
  return [...functionsIn(node.body.body, types), ...inherited];
}

function functionsIn(members: readonly TsTypeElement[], types: Types): string[] {
  return members.flatMap((member) => {
    if (member.type !== 'TsMethodSignature' && member.type !== 'TsPropertySignature') return [];
    const name = member.key.type === 'Identifier' ? member.key.value : '';
    if (member.type === 'TsMethodSignature') return [name];
    const type = member.typeAnnotation?.typeAnnotation;
    if (isFunctionType(type, types)) return [name];
    // Each function of a nested object literal counts. The functions have the name of the object's field, because
    // `Omit` and `Pick` select whole fields.
    return type?.type === 'TsTypeLiteral' ? functionsIn(type.members, types).map(() => name) : [];
  });
}

function isFunctionType(type: TsType | undefined, types: Types): boolean {
  if (type?.type === 'TsParenthesizedType') return isFunctionType(type.typeAnnotation, types);
  if (type?.type === 'TsUnionType') return type.types.some((each) => isFunctionType(each, types));
  const alias = types.aliases.get(nameOf(type));
  return type?.type === 'TsFunctionType' || (alias !== undefined && isFunctionType(alias, types));
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
