import { dirname } from 'node:path';
import type { ProjectPlace } from './project/project-path.ts';
import type { Permission } from './tool.ts';

/**
 * Returns whether the rules allow every permission that a call needs. Rules are only compared as text: each permission
 * lists the rules that grant it.
 */
export function isAllowed(needed: readonly Permission[], rules: readonly string[]): boolean {
  return needed.every(({ rule, also = [] }) => [rule, ...also].some((one) => rules.includes(one)));
}

/** Returns the permission to change a file, named by the file's real path. */
export function editPermission({ name, shown }: Pick<ProjectPlace, 'name' | 'shown'>): Permission {
  if (shown !== name) return editElsewhere(shown);
  const folders = name.split('/').slice(0, -1);
  const above = folders.map((_, at) => `edit:${folders.slice(0, at + 1).join('/')}/`).toReversed();
  const [rule, ...wider] = [...above, 'edit:./'];
  const isTop = folders.length === 0;
  return {
    always: isTop ? 'edits in the whole project' : `edits in ${folders.join('/')}/`,
    rule: rule ?? 'edit:./',
    also: [...wider, 'tool:edit'],
  };
}

/**
 * Returns the permission to change a file outside of the project folder; rules of the project do not grant this
 * permission.
 */
function editElsewhere(path: string): Permission {
  const folder = `${dirname(path)}/`;
  return { always: `edits in ${folder}`, rule: `edit:${folder}` };
}
