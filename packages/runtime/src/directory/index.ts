/**
 * The sessions and projects, on this server and in the agents' own stores, and text search in conversations. In: ids,
 * folders, words. Out: sessions, opened when needed; lists, files of a project, hits.
 */
export { AgentStores, describeAgent } from './agent-stores.ts';
export { Directory } from './directory.ts';
export type { SessionListStorage } from './listed-sessions.ts';
export { groupByProject, projectFolders } from './projects.ts';
export { searchHistory } from './search.ts';
