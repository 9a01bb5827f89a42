import {
  CreateSessionBody,
  decodeCursor,
  HistoryPage,
  SessionHandle,
  SessionListResult,
  SessionStatusResult,
} from '@liminal/protocol';
import type { Runtime } from '@liminal/runtime';
import { z } from 'zod';
import { RequestError } from './errors.ts';
import { SessionPath } from './path-params.ts';
import { type App, Done } from './schema.ts';

const ListQuery = z.object({ projectId: z.string().optional() });
const HistoryQuery = z.object({
  before: z
    .string()
    .refine((place) => decodeCursor(place) !== undefined, 'is no place that a page has given')
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).optional(),
});

/** The life of a session: create, load, list, look at, end (seed 000, AC-6.1 and AC-6.3). */
export async function sessionRoutes(app: App, { runtime }: { runtime: Runtime }) {
  app.post(
    '/api/session/create',
    {
      schema: {
        summary: 'Starts an agent in a project folder.',
        body: CreateSessionBody,
        response: { 201: SessionHandle },
      },
    },
    async (request, reply) => reply.code(201).send(await runtime.createSession(request.body)),
  );

  app.post(
    '/api/session/:id/load',
    {
      schema: {
        summary: 'Opens an existing session, ours or the agent’s own.',
        params: SessionPath,
        response: { 200: SessionHandle },
      },
    },
    (request) => runtime.loadSession(request.params.id),
  );

  app.get(
    '/api/session/list',
    {
      schema: {
        summary: 'Lists the open sessions of a project, and those in the agents’ own stores.',
        querystring: ListQuery,
        response: { 200: SessionListResult },
      },
    },
    async ({ query: { projectId } }) => {
      if (projectId) return { sessions: await runtime.listSessions(projectId) };
      throw new RequestError('PROJECT_ID_REQUIRED', 'Say which project: ?projectId=…');
    },
  );

  app.get(
    '/api/session/:id/status',
    {
      schema: {
        summary: 'Says whether a session’s agent runs, and what it does.',
        params: SessionPath,
        response: { 200: SessionStatusResult },
      },
    },
    (request) => runtime.status(request.params.id),
  );

  app.get(
    '/api/session/:id/history',
    {
      schema: {
        summary: 'Gives a page of the conversation, the newest first; starts no agent.',
        params: SessionPath,
        querystring: HistoryQuery,
        response: { 200: HistoryPage },
      },
    },
    (request) => runtime.history(request.params.id, request.query),
  );

  app.post(
    '/api/session/:id/kill',
    {
      schema: {
        summary: 'Ends a session’s agent and closes the session; its history stays.',
        params: SessionPath,
        response: { 200: Done },
      },
    },
    async (request) => {
      await runtime.kill(request.params.id);
      return {};
    },
  );
}
