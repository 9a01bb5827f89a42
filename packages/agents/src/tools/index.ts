/** The built-in tools of our own tool loop. File tools reach nothing outside of the session's project folder. */
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { fetchTool } from './fetch.ts';
import { listTool } from './list.ts';
import { planTool } from './plan.ts';
import { readTool } from './read.ts';
import { searchTool } from './search.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

export { isAllowed } from './permissions.ts';
export * from './tool.ts';

export interface BuiltInOptions {
  /** Whether models may fetch pages from the internet; off unless asked for. */
  fetch?: boolean;
  /** Names of variables that shell commands do not get, such as those with the keys of models. */
  hiddenVariables?: readonly string[];
}

/** For one session, or several. */
export function builtInTools({ fetch = false, hiddenVariables = [] }: BuiltInOptions = {}): Tool[] {
  return [
    readTool,
    writeTool(),
    editTool(),
    listTool,
    searchTool(),
    bashTool(hiddenVariables),
    planTool,
    ...(fetch ? [fetchTool()] : []),
  ];
}
