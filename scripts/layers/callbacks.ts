import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, parseSync, type TsInterfaceDeclaration, type TsType } from '@swc/core';

/** What needs more from its maker is no separate thing: it is joined with it, or is given the object that it talks to. */
const MOST = 3;

/** Options that take more functions than that. What a component of the page is given is no matter of theirs. */
export function findCallbacks(root: string): string[] {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root });
  return files
    .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('packages/web/'))
    .flatMap((file) => {
      const { body } = parseSync(readFileSync(join(root, file), 'utf8'), { syntax: 'typescript' });
      return body
        .map((statement) =>
          statement.type === 'ExportDeclaration' ? statement.declaration : statement,
        )
        .filter((node) => isOptions(node))
        .map(({ id, body: { body: members } }) => ({
          name: id.value,
          callbacks: members.filter(
            (member) =>
              member.type === 'TsMethodSignature' ||
              (member.type === 'TsPropertySignature' && isFunction(member.typeAnnotation)),
          ).length,
        }))
        .filter(({ callbacks }) => callbacks > MOST)
        .map(
          ({ name, callbacks }) =>
            `callbacks: ${file} needs ${callbacks} functions in its ${name}, of at most ${MOST}. Join it with its maker, or give it the object that it talks to.`,
        );
    });
}

function isOptions(node: Node): node is TsInterfaceDeclaration {
  const { id } = node as Partial<TsInterfaceDeclaration>;
  return node.type === 'TsInterfaceDeclaration' && id?.value.endsWith('Options') === true;
}

function isFunction(annotation: { typeAnnotation: TsType } | undefined): boolean {
  const type = annotation?.typeAnnotation;
  if (type?.type === 'TsParenthesizedType') return isFunction(type);
  if (type?.type === 'TsUnionType') {
    return type.types.some((one) => isFunction({ typeAnnotation: one }));
  }
  return type?.type === 'TsFunctionType';
}
