import { headOf } from '@liminal/protocol';
import { stat } from 'node:fs/promises';
import { z } from 'zod';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { fileProblem, findPlace, refuseOthers, shownIn } from './project/project-path.ts';
import { plainSearch } from './search/plain-search.ts';
import type { FoundLine } from './search/query.ts';
import { findRipgrep, ripgrep } from './search/ripgrep.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const Input = z.object({
  pattern: z.string().min(1).max(10_000).describe('A regular expression for one line.'),
  path: z
    .string()
    .min(1)
    .optional()
    .describe('A folder or file, relative to the project folder; default: the project.'),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Which files: *.ts, src/**/*.css, !*.test.ts.'),
  ignoreCase: z.boolean().optional(),
  context: z.int().min(0).max(20).optional().describe('Lines to show around each match.'),
});
type Input = z.infer<typeof Input>;

/** Searches in files. */
export function searchTool(hiddenFolders: HiddenFolders, options: SearchOptions = {}): Tool<Input> {
  const { timeLimit = 20_000, findProgram = () => findRipgrep(process.env['PATH']) } = options;
  let program: Promise<string | undefined> | undefined;
  return {
    name: 'search',
    description:
      'Searches the text files of the project for a regular expression, line by line. Hidden files, and those that .gitignore names, are left out.',
    kind: 'search',
    input: Input,
    async describe({ pattern, path = '.' }, folders) {
      const { real, shown } = findPlace(folders, path, hiddenFolders);
      const where = shown === '' ? '' : ` in ${shown}`;
      return { title: `Search for ${pattern}${where}`, locations: [{ path: real }] };
    },
    needs: () => undefined,
    async run({ path = '.', ignoreCase = false, context = 0, ...input }, { signal, ...folders }) {
      if (/[\0\n]/.test(input.pattern + (input.glob ?? ''))) {
        throw new ToolError('A pattern is for one line, and must not contain a NUL character.');
      }
      const place = findPlace(folders, path, hiddenFolders);
      const found = await stat(place.real).catch((error: unknown) => {
        throw fileProblem(error, place.asked);
      });
      if (!found.isDirectory()) refuseOthers(found, place.asked);
      const query = {
        ...input,
        place,
        isFile: !found.isDirectory(),
        ignoreCase,
        context,
      };
      program ??= findProgram();
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]);
      const tool = await program;
      const lines = tool === undefined ? plainSearch(query, inTime) : ripgrep(tool, query, inTime);
      const nameOf = (name: string): string => shownIn(place, name);
      return { output: await shownLines(lines, nameOf, inTime), success: true };
    },
  };
}

export interface SearchOptions {
  /** In ms. */
  timeLimit?: number;
  /** For tests: the function that finds ripgrep, if it is installed. */
  findProgram?: () => Promise<string | undefined>;
}

/** The most matches, the most characters of a line, and the most characters in total. */
const maxMatches = 200;
const maxLine = 400;
const maxLength = 40_000;

async function shownLines(
  found: AsyncIterable<FoundLine>,
  nameOf: (name: string) => string,
  inTime: AbortSignal,
): Promise<string> {
  const lines: string[] = [];
  let [matches, length, file, last] = [0, 0, '', 0];
  let note: string | undefined;
  for await (const { name, line, isMatch, text } of found) {
    if (matches + Number(isMatch) > maxMatches || length > maxLength) {
      note = `Only the first ${matches} matches are shown: search for less.`;
      break;
    }
    matches += Number(isMatch);
    if (name !== file) lines.push(...(file === '' ? [] : ['']), nameOf(name));
    else if (line !== undefined && line > last + 1 && !isMatch) lines.push('--');
    [file, last] = [name, line ?? last];
    const cut = text.length > maxLine ? `${headOf(text, maxLine)}…` : text;
    const shown = `${line ?? '?'}${isMatch ? ':' : '-'} ${cut}`;
    lines.push(shown);
    length += shown.length + name.length;
  }
  if (note === undefined && inTime.aborted)
    note = 'The time limit was reached before the rest was searched.';
  if (lines.length === 0) return note === undefined ? 'Nothing matches.' : `(${note})`;
  return [...lines, ...(note === undefined ? [] : ['', `(${note})`])].join('\n');
}
