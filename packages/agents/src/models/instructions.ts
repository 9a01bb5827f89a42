import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Files with which projects speak to agents, the first that is there. */
const projectFiles = ['AGENTS.md', 'CLAUDE.md'];
/** How much of such a file is read, in bytes. */
const maxProjectFile = 64 * 1024;

/** What a model is told before the conversation. */
export async function instructionsFor(projectDir: string): Promise<string> {
  const own = await projectInstructions(projectDir);
  const base = [
    'You are a coding agent. You work with the user in the folder of their project, with the tools that you are given.',
    `The project’s folder is ${projectDir}. Paths are relative to it.`,
    'Look before you change something, keep to the project’s own style, and check what you have done. Say briefly what you do and what came of it, in Markdown. Ask when it is not clear what is wanted.',
    'If the user refuses a call, do not try the same in another way.',
  ].join('\n');
  return own === undefined ? base : `${base}\n\nThe project says to agents:\n\n${own}`;
}

async function projectInstructions(projectDir: string): Promise<string | undefined> {
  for (const name of projectFiles) {
    const text = await beginningOf(join(projectDir, name));
    if (text !== undefined) return text;
  }
  return undefined;
}

async function beginningOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(
      Buffer.alloc(maxProjectFile),
      0,
      maxProjectFile,
      0,
    );
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
