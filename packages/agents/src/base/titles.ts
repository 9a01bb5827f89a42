/** Parts of the titles of tool calls. */
import { relative, sep } from 'node:path/posix';

/** The first line of a text, with an ellipsis if there are more. */
export const oneLine = (text: string): string => {
  const [first = '', ...rest] = text.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
};

/** A path for people: relative if it is inside the project folder. */
export function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  const isOutside = short === '..' || short.startsWith(`..${sep}`);
  return short === '' || isOutside ? path : short;
}
