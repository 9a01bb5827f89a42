/** The built-in tools of Liminal's own tool loop. File tools access nothing outside of the session's project folder. */
import { FairSemaphore } from '../../base/fair-semaphore.ts';
import { HiddenFolders } from '../../base/hidden-folders.ts';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { fetchTool } from './fetch.ts';
import { listTool } from './list.ts';
import { planTool } from './plan.ts';
import { remoteTools, type ToolQueue } from './remote/index.ts';
import { readTool } from './read.ts';
import { type SearchOptions, searchTool } from './search.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

export { isAllowed } from './permissions.ts';
export { remoteTools, serveTools, type ToolQueue } from './remote/index.ts';
export * from './tool.ts';
export { ToolError } from './tool-error.ts';

export interface BuiltInOptions {
  /** Whether models may fetch pages from the internet; default: no. */
  fetch?: boolean | undefined;
  /** Folders that the tools neither read nor change: Liminal's own data folder. */
  hiddenFolders?: readonly string[];
  /** Names of environment variables that shell commands do not get, for example those with keys of model servers. */
  hiddenVariables?: readonly string[];
  /** For tests: the function with which the tool `search` finds ripgrep. */
  search?: SearchOptions;
  /** A queue to workers, which run the tools of `toolsForWorkers`; without a queue, all tools run in this process. */
  workers?: ToolQueue | undefined;
}

/**
 * The tools that run programs, or that may need much time. All other tools need less time than a request to a worker.
 * Also, only this process knows whether a file still has the content that people saw when they allowed a change.
 */
const forWorkers = new Set(['bash', 'search', 'fetch']);

/** Returns the tools, for one or several sessions. */
export function builtInTools({ workers, ...options }: BuiltInOptions = {}): Tool[] {
  const tools = toolsHere(options);
  if (workers === undefined) {
    return tools.map((tool) => (forWorkers.has(tool.name) ? limited(tool) : tool));
  }
  return tools.flatMap((tool) =>
    forWorkers.has(tool.name) ? remoteTools([tool], workers) : [tool],
  );
}

/** The most calls of one tool that run at the same time, per session and on this server. Further calls wait. */
const atOnce = { each: 8, total: 32 };

/** Limits the calls of a tool that starts processes or threads. A worker applies its own limits. */
function limited(tool: Tool): Tool {
  const limit = new FairSemaphore(atOnce);
  return {
    ...tool,
    run: async (input, context) =>
      limit.run(context.owner ?? tool, async () => tool.run(input, context), context.signal),
  };
}

/** Returns the tools that a worker can run. */
export function toolsForWorkers(options: Omit<BuiltInOptions, 'workers'>): Tool[] {
  return toolsHere(options).filter(({ name }) => forWorkers.has(name));
}

function toolsHere({
  fetch = false,
  search = {},
  hiddenFolders = [],
  hiddenVariables = [],
}: BuiltInOptions): Tool[] {
  const hidden = new HiddenFolders(hiddenFolders);
  return [
    readTool(hidden),
    writeTool(hidden),
    editTool(hidden),
    listTool(hidden),
    searchTool(hidden, search),
    bashTool(hidden, hiddenVariables),
    planTool,
    ...(fetch ? [fetchTool()] : []),
  ];
}
