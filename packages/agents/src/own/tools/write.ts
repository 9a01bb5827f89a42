import { z } from 'zod';
import type { ClientFiles } from '../../contract/client-files.ts';
import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { editPermission } from './permissions.ts';
import { findPlace, refuseGit, type ProjectPlace } from './project/project-path.ts';
import { shownChange } from './project/shown-change.ts';
import { putText, readText, type FoundText } from './project/text-file.ts';
import type { Tool } from './tool.ts';
import { ToolError } from './tool-error.ts';

const Input = z.object({
  path: z.string().min(1).describe('The file, relative to the project folder.'),
  content: z.string().describe('The whole new text of the file.'),
});
type Input = z.infer<typeof Input>;

/** Writes whole files. */
export function writeTool(hiddenFolders: HiddenFolders): Tool<Input> {
  /** For each call, the file and the text that people were shown before they allowed the call. */
  const shown = new WeakMap<Input, { real: string; oldText: string | undefined }>();
  return {
    name: 'write',
    description:
      'Writes a whole text file of the project, with the folders that it needs, and replaces one that is there. To change a part of a file use edit.',
    kind: 'edit',
    input: Input,
    async describe(input, folders, files) {
      const { place, found } = await look(
        input,
        findPlace(folders, input.path, hiddenFolders),
        files,
      );
      shown.set(input, { real: place.real, oldText: found?.text });
      return {
        title: `Write ${place.shown}`,
        locations: [{ path: place.real }],
        diffs: [shownChange(place.real, found?.text, input.content)],
      };
    },
    needs: ({ path }, folders) => [editPermission(findPlace(folders, path, hiddenFolders))],
    async run(input, { files, ...folders }) {
      const { place, found } = await look(
        input,
        findPlace(folders, input.path, hiddenFolders),
        files,
      );
      const before = shown.get(input);
      if (before !== undefined) {
        const isSame = before.real === place.real && before.oldText === found?.text;
        if (!isSame) {
          throw new ToolError(
            `“${input.path}” has changed since this was asked for: nothing was written. Read it again.`,
          );
        }
      }
      await putText(place, input.content, found, files);
      const bytes = Buffer.byteLength(input.content);
      return {
        output: `${found === undefined ? 'Made' : 'Replaced'} ${place.shown} (${bytes} bytes).`,
        success: true,
        diffs: [shownChange(place.real, found?.text, input.content)],
      };
    },
  };
}

async function look(
  { path }: Input,
  place: ProjectPlace,
  files: ClientFiles | undefined,
): Promise<{ place: ProjectPlace; found: FoundText | undefined }> {
  if (path.endsWith('/')) throw new ToolError(`“${place.asked}” is a folder, not a file.`);
  refuseGit(place);
  return { place, found: await readText(place, files) };
}
