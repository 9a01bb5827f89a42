import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A home folder and a project folder for one run of an agent, both inside one temporary folder. */
export interface Workspace {
  home: string;
  projectDir: string;
  /** Deletes both folders. */
  remove(): Promise<void>;
}

/** Makes a workspace whose project contains `files` (by relative path, the content). */
export async function makeWorkspace(
  files: Record<string, string | Buffer> = {},
): Promise<Workspace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-')));
  const [home, projectDir] = [join(root, 'home'), join(root, 'project')];
  await mkdir(home);
  await mkdir(projectDir);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(projectDir, path)), { recursive: true });
    await writeFile(join(projectDir, path), content);
  }
  return {
    home,
    projectDir,
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
