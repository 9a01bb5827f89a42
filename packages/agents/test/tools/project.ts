/** A project folder for tests of tools, and a folder outside of it, which the tools must not access. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import type { ClientFiles } from '../../src/contract/client-files.ts';
import { HiddenFolders } from '../../src/base/hidden-folders.ts';
import type { Folders } from '../../src/own/tools/project/project-path.ts';
import type { Tool, ToolResult } from '../../src/own/tools/tool.ts';
import { ToolError } from '../../src/own/tools/tool-error.ts';

/** No hidden folders, for tests of other things. */
export const nothingHidden = new HiddenFolders();

export interface Project {
  /** Real path. */
  dir: string;
  folders: Folders;
  /** A folder next to the project, with `secret.txt`. */
  outside: string;
  write(name: string, content: string | Buffer): string;
  read(name: string): string;
}

export async function makeProject(): Promise<Project> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'liminal-tools-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [dir, outside] = [join(root, 'project'), join(root, 'outside')];
  for (const folder of [dir, outside]) mkdirSync(folder);
  writeFileSync(join(outside, 'secret.txt'), 'SECRET\n');
  return {
    dir,
    folders: { projectDir: dir },
    outside,
    write(name, content) {
      const path = join(dir, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    read: (name) => readFileSync(join(dir, name), 'utf8'),
  };
}

/** The content and mode of each file in a folder. */
export function contentOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((one) => one.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map((path) => [path, `${statSync(path).mode} ${readFileSync(path, 'utf8')}`]),
  );
}

export interface CallOptions {
  signal?: AbortSignal;
  print?: (text: string) => void;
  files?: ClientFiles;
}

/** Runs a call in the way of the tool loop: parses the input, gets the call's description, then runs the call. */
export async function call<Input>(
  tool: Tool<Input>,
  { dir, folders = { projectDir: dir } }: { dir: string; folders?: Folders },
  input: z.input<Tool<Input>['input']>,
  { signal = new AbortController().signal, print = () => undefined, files }: CallOptions = {},
): Promise<ToolResult> {
  const parsed = tool.input.parse(input);
  await tool.describe(parsed, folders, files);
  return tool.run(parsed, { ...folders, files, signal, print });
}

/** Returns the message of a call's ToolError; throws any other error. */
export async function refusal(calling: Promise<unknown>): Promise<string> {
  try {
    return `not refused: ${JSON.stringify(await calling)}`;
  } catch (error) {
    if (error instanceof ToolError) return error.message;
    throw error;
  }
}
