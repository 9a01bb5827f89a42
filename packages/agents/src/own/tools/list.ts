import { z } from 'zod';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { findPlace, shownIn } from './project/project-path.ts';
import { walk, type WalkEntry } from './project/walk.ts';
import type { Tool } from './tool.ts';

const maxShown = 500;
/** The time limit for walking a folder tree (ms). */
const timeLimit = 10_000;

const Input = z.object({
  path: z
    .string()
    .min(1)
    .optional()
    .describe('The folder, relative to the project folder; default: the project folder.'),
  depth: z
    .int()
    .min(1)
    .max(20)
    .default(1)
    .describe('How deep: 1 is only the folder’s own entries.'),
  hidden: z.boolean().optional().describe('Whether to include names that begin with a dot.'),
  ignored: z.boolean().optional().describe('Whether to include names in .gitignore.'),
});

/** Lists folders. */
export const listTool = (hiddenFolders: HiddenFolders): Tool<z.infer<typeof Input>> => ({
  name: 'list',
  description:
    'Lists a folder of the project: folders end with a slash. Hidden files, and those that .gitignore names, are left out unless asked for.',
  kind: 'read',
  input: Input,
  async describe({ path = '.' }, folders) {
    const { real, shown } = findPlace(folders, path, hiddenFolders);
    return { title: `List ${shown === '' ? 'the project' : shown}`, locations: [{ path: real }] };
  },
  needs: () => undefined,
  async run({ path = '.', depth, hidden = false, ignored = false }, { signal, ...folders }) {
    const place = findPlace(folders, path, hiddenFolders);
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeLimit)]);
    const lines: string[] = [];
    let why: string | undefined;
    for await (const entry of walk(place, { depth, hidden, ignored })) {
      if (lines.length >= maxShown)
        why = `There are more than ${maxShown} entries: list a folder of these.`;
      else if (inTime.aborted) why = 'The time limit was reached before the rest.';
      if (why !== undefined) break;
      lines.push(described({ ...entry, name: shownIn(place, entry.name) }));
    }
    if (lines.length === 0 && why === undefined) return { output: '(Nothing.)', success: true };
    return {
      output: [...lines, ...(why === undefined ? [] : [`(${why})`])].join('\n'),
      success: true,
    };
  },
});

const marks: Record<WalkEntry['kind'], string> = {
  file: '',
  folder: '/',
  link: ' (link)',
  other: ' (no file)',
};

const described = ({ name, kind, problem }: WalkEntry): string =>
  `${name}${marks[kind]}${problem === undefined ? '' : ` (${problem})`}`;
