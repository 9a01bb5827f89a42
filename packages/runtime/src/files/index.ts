/**
 * The files of projects. In: a project's folder, and a path or a few letters of one. Out: a file to look at, or the
 * paths that match. What lies outside the project and the allowed roots is neither shown nor named.
 */
export { FileFinder } from './file-finder.ts';
export { readProjectFile } from './project-file.ts';
