import {
  AgentsResult,
  FoldersResult,
  ProjectsResult,
  Response,
  SearchResult,
  SessionListResult,
} from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { z } from 'zod';
import { AgentPath, RunPath } from './path-params.ts';
import type { App } from './schema.ts';

const FoldersQuery = z.object({ prefix: z.string().max(4096).default('') });
const SearchParameters = z.object({
  q: z.string().max(1_000),
  projectId: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** What there is: agents, projects, folders and runs. */
export async function catalogueRoutes(app: App, { runtime }: { runtime: Runtime }) {
  app.get(
    '/api/agents',
    {
      schema: {
        summary: 'Lists the agent types, and whether each can run here.',
        response: { 200: AgentsResult },
      },
    },
    async () => ({ agents: await runtime.listAgents() }),
  );

  app.post(
    '/api/agents/:cliType/sessions',
    {
      schema: {
        summary: 'Asks an agent for the sessions in its own store; starts it if it does not run.',
        params: AgentPath,
        response: { 200: SessionListResult },
      },
    },
    async (request) => ({ sessions: await runtime.findSessions(request.params.cliType) }),
  );

  app.get(
    '/api/projects',
    {
      schema: {
        summary: 'Lists all projects with their sessions, also those in the agents’ own stores.',
        response: { 200: ProjectsResult },
      },
    },
    async () => ({ projects: await runtime.listProjects() }),
  );

  app.get(
    '/api/folders',
    {
      schema: {
        summary: 'Lists folders below the allowed roots whose path begins with a prefix.',
        querystring: FoldersQuery,
        response: { 200: FoldersResult },
      },
    },
    async (request) => ({ folders: await runtime.listFolders(request.query.prefix) }),
  );

  app.get(
    '/api/run/:id',
    {
      schema: {
        summary: 'Gives a run as its Response.',
        params: RunPath,
        response: { 200: Response },
      },
    },
    (request) => runtime.getRun(request.params.id),
  );

  app.get(
    '/api/search',
    {
      schema: {
        summary: 'Finds sessions by their titles, and items by their text.',
        querystring: SearchParameters,
        response: { 200: SearchResult },
      },
    },
    ({ query: { q, projectId, limit } }) => runtime.search({ text: q, projectId, limit }),
  );
}
