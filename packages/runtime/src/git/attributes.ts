/** Git's conversions of a file's content before the comparison with a commit. */
import type { Repository } from './repository.ts';
import { gitOutput, gitParts } from './run-git.ts';

/** Returns whether git stores line ends `\r\n` of a file as `\n`, given whether the committed file has `\r\n`. */
type StoresLineFeeds = (hasReturns: boolean) => boolean;

export interface Storing {
  /** Whether git stores the file through a program that the repository's settings name. */
  isFiltered: boolean;
  storesLineFeeds: StoresLineFeeds;
}

/** Returns how git stores each file. Runs no filter. */
export async function readAttributes(
  { top }: Repository,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<(path: string) => Storing> {
  const byPath = new Map<string, Map<string, string>>();
  let converts = false;
  if (paths.length > 0) {
    const input = `${paths.join('\0')}\0`;
    const asked = ['check-attr', '-z', '--stdin', 'text', 'eol', 'filter'];
    let triple: string[] = [];
    await gitParts(top, asked, { signal, input }, (part) => {
      triple.push(part.toString());
      if (triple.length < 3) return true;
      const [path = '', name = '', value = ''] = triple;
      byPath.set(path, (byPath.get(path) ?? new Map<string, string>()).set(name, value));
      triple = [];
      return true;
    });
    const setting = await gitOutput(top, ['config', '--get', 'core.autocrlf'], { signal });
    converts =
      setting.kind === 'done' && /^(?:true|input|yes|on|1)\n$/i.test(setting.output.toString());
  }
  return (path) => {
    const attributes = byPath.get(path);
    const [text, eol, filter] = ['text', 'eol', 'filter'].map((name) => attributes?.get(name));
    return {
      isFiltered: isValue(filter),
      storesLineFeeds: (hasReturns) => {
        if (text === 'unset') return false;
        if (text === 'set' || (text === 'unspecified' && isValue(eol))) return true;
        return (text === 'auto' || converts) && !hasReturns;
      },
    };
  };
}

const isValue = (value: string | undefined): boolean =>
  value !== undefined && !['unspecified', 'unset', 'set', ''].includes(value);
