/** Parts of the titles of tool calls. */
import { relative, sep } from 'node:path/posix';

/** Returns the first line of a text, with an ellipsis if the text has more lines. */
export const oneLine = (text: string): string => {
  const [first = '', ...rest] = text.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
};

/** Returns a path for people. A path inside the project folder becomes relative to that folder. */
export function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  const isOutside = short === '..' || short.startsWith(`..${sep}`);
  return short === '' || isOutside ? path : short;
}
