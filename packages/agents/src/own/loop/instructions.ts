import type { HiddenFolders } from '../../base/hidden-folders.ts';
import { type Folders, findPlace, openFile } from '../tools/project/project-path.ts';

/** Files with a project's instructions for agents; of these files, only the first that exists is used. */
const projectFiles = ['AGENTS.md', 'CLAUDE.md'];
/** The largest part of such a file that is read, in bytes. */
const maxProjectFile = 64 * 1024;

/** Returns the system prompt of a model. */
export async function instructionsFor(
  folders: Folders,
  hiddenFolders: HiddenFolders,
): Promise<string> {
  const { projectDir, additionalDirectories = [] } = folders;
  const own = await projectInstructions(folders, hiddenFolders);
  const base = [
    'You are a coding agent. You work with the user in the folder of their project, with the tools that you are given.',
    `The project’s folder is ${projectDir}. Paths are relative to it.`,
    ...(additionalDirectories.length === 0
      ? []
      : [
          `You may also work in these folders, by whole paths: ${additionalDirectories.join(', ')}`,
        ]),
    'Look before you change something, keep to the project’s own style, and check what you have done. Say briefly what you do and what came of it, in Markdown. Ask when it is not clear what is wanted.',
    'If the user refuses a call, do not try the same in another way.',
  ].join('\n');
  return own === undefined ? base : `${base}\n\nThe project says to agents:\n\n${own}`;
}

async function projectInstructions(
  folders: Folders,
  hiddenFolders: HiddenFolders,
): Promise<string | undefined> {
  for (const name of projectFiles) {
    // Links out of the project are not followed, because the linked file would be sent to the model's server.
    const text = await beginningOf(folders, name, hiddenFolders).catch(() => undefined);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Rejects if the file does not exist or is not a file of the project. */
async function beginningOf(
  { projectDir }: Folders,
  name: string,
  hiddenFolders: HiddenFolders,
): Promise<string> {
  const { handle } = await openFile(findPlace({ projectDir }, name, hiddenFolders));
  try {
    const read = await handle.read(Buffer.alloc(maxProjectFile), 0, maxProjectFile, 0);
    return read.buffer.toString('utf8', 0, read.bytesRead);
  } finally {
    await handle.close();
  }
}
