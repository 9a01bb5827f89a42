/** Git repositories of projects, read without running a program that they name, and without changing them. */
export { copyIndex, findIndex, gitParts } from './run-git.ts';
export { WorkTreeDiffs } from './work-tree-diffs.ts';
