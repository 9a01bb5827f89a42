/**
 * Reads the git repositories of projects, without changing them and without running programs that their settings name.
 */
export { copyIndex, findIndex, gitParts } from './run-git.ts';
export { WorkTreeDiffs } from './work-tree-diffs.ts';
