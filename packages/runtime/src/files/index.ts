/**
 * The files of projects. In: a project's folder, and a path or a few letters of a path. Out: a file to show, or the
 * matching paths. Neither contents nor names of files outside the project and the allowed roots are shown.
 */
export { FileFinder } from './file-finder.ts';
export { readProjectFile } from './project-file.ts';
