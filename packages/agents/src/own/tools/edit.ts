import { z } from 'zod';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { editPermission } from './permissions.ts';
import { replaceText } from './project/replace-text.ts';
import { findPlace, refuseGit, type ProjectPlace } from './project/project-path.ts';
import { shownChange } from './project/shown-change.ts';
import { putText, readText, type FoundText } from './project/text-file.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the project folder.'),
  oldText: z
    .string()
    .min(1)
    .describe('The text to replace, exactly as it is in the file, without line numbers.'),
  newText: z.string().describe('What to put there; empty to delete.'),
  replaceAll: z
    .boolean()
    .optional()
    .describe('Replace every occurrence; otherwise it must occur once.'),
});
type Input = z.infer<typeof Input>;

interface Planned {
  place: ProjectPlace;
  found: FoundText;
  text: string;
  /** The numbers, from 1, of the lines in which the replaced texts begin. */
  lines: number[];
}

/** Returns a tool that replaces a part of a text file. */
export function editTool(hiddenFolders: HiddenFolders): Tool<Input> {
  /** For each call, the real path of the file for which people were shown the change. */
  const shown = new WeakMap<Input, string>();
  return {
    name: 'edit',
    description:
      'Replaces a text in a file of the project. The old text must match exactly, and occur once in the file unless replaceAll is set: give enough of the lines around it.',
    kind: 'edit',
    input: Input,
    async describe(input, folders, files) {
      const { place, found, text, lines } = await planEdit(
        input,
        findPlace(folders, input.path, hiddenFolders),
        files,
      );
      shown.set(input, place.real);
      return {
        title: `Edit ${place.shown}`,
        locations: [{ path: place.real, ...(lines[0] !== undefined && { line: lines[0] }) }],
        diffs: [shownChange(place.real, found.text, text)],
      };
    },
    needs: ({ path }, folders) => [editPermission(findPlace(folders, path, hiddenFolders))],
    async run(input, { files, ...folders }) {
      // The text is searched again: other changes of the file since then are kept, but the text must still be there.
      const { place, found, text, lines } = await planEdit(
        input,
        findPlace(folders, input.path, hiddenFolders),
        files,
      );
      if ((shown.get(input) ?? place.real) !== place.real) {
        throw new ToolError(`“${input.path}” now leads elsewhere: nothing was changed.`);
      }
      await putText(place, text, found, files);
      const where = lines.length === 1 ? `line ${lines[0]}` : `${lines.length} places`;
      return {
        output: `Changed ${place.shown} in ${where}.`,
        success: true,
        diffs: [shownChange(place.real, found.text, text)],
      };
    },
  };
}

async function planEdit(
  input: Input,
  place: ProjectPlace,
  files: ClientFiles | undefined,
): Promise<Planned> {
  refuseGit(place);
  const found = await readText(place, files);
  if (found === undefined) {
    throw new ToolError(`“${input.path}” does not exist. To make a new file use write.`);
  }
  return { place, found, ...replaceText(found.text, input) };
}
