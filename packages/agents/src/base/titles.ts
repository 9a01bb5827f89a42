/** Parts of the titles of tool calls. */
import { relative, sep } from 'node:path/posix';

/** The first line of a text; an ellipsis stands for the others. */
export const oneLine = (text: string): string => {
  const [first = '', ...rest] = text.trim().split('\n');
  return rest.length === 0 ? first : `${first} …`;
};

/** A path for people: relative to the project folder if it is inside. */
export function shortPath(path: string, cwd: string): string {
  const short = relative(cwd, path);
  const isOutside = short === '..' || short.startsWith(`..${sep}`);
  return short === '' || isOutside ? path : short;
}
