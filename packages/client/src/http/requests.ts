import {
  AgentsResult,
  type ApprovalAnswer,
  type CreateSessionBody,
  FileResult,
  FoldersResult,
  HistoryPage,
  ProjectsResult,
  Response as RunResponse,
  SearchResult,
  SendResult,
  SessionHandle,
  SessionListResult,
  SessionStatusResult,
} from '@liminal/protocol';
import { ApiError } from './api-error.ts';
import { call, type HttpOptions } from './call.ts';

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: unknown };
}

/** Everything that can be asked of the server over HTTP. Each rejects with `ApiError`. */
export type Requests = ReturnType<typeof createRequests>;

/** Typed requests: what comes back is checked against the protocol's schemas. */
export function createRequests(options: HttpOptions) {
  const get = async <T>(schema: Schema<T>, path: string, signal?: AbortSignal) =>
    parse(schema, path, await call(options, 'GET', path, undefined, signal));
  const post = async <T>(schema: Schema<T>, path: string, body?: unknown) =>
    parse(schema, path, await call(options, 'POST', path, body));
  /** A command without an answer worth reading. */
  const command = async (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => {
    await call(options, method, path, body);
  };

  return {
    listAgents: async () => (await get(AgentsResult, '/api/agents')).agents,
    /** Asks an agent for the sessions in its own store; starts it if it does not run. */
    findSessions: async (cliType: string) =>
      (await post(SessionListResult, `/api/agents/${encodeURIComponent(cliType)}/sessions`))
        .sessions,
    listProjects: async () => (await get(ProjectsResult, '/api/projects')).projects,
    /** Folders below the allowed roots whose path begins with `prefix`. */
    listFolders: async (prefix: string) =>
      (await get(FoldersResult, `/api/folders${query({ prefix })}`)).folders,
    /**
     * Titles of sessions and items that have every word of `text`; at most `limit` (20 if not said, 100 at most).
     * `signal` gives the search up.
     */
    search: (
      text: string,
      { signal, ...options }: { projectId?: string; limit?: number; signal?: AbortSignal } = {},
    ) => get(SearchResult, `/api/search${query({ q: text, ...options })}`, signal),
    create: (body: CreateSessionBody) => post(SessionHandle, '/api/session/create', body),
    load: (id: string) => post(SessionHandle, at(id, 'load')),
    /** Somebody is about to send a message: the agent may start. */
    prewarm: (id: string) => command('POST', at(id, 'prewarm')),
    /**
     * The answer's `turnId` is the turn that the message will be answered in: the one that was given (a UUID), with which
     * it can be asked again and is sent once.
     */
    send: (id: string, message: string, turnId?: string) =>
      post(SendResult, at(id, 'send'), { message, turnId }),
    cancel: (id: string) => command('POST', at(id, 'cancel')),
    kill: (id: string) => command('POST', at(id, 'kill')),
    status: (id: string) => get(SessionStatusResult, at(id, 'status')),
    /** A run as history has it, or so far. */
    run: (runId: string) => get(RunResponse, `/api/run/${encodeURIComponent(runId)}`),
    /** A page of the conversation: the newest one, or the one before `page.before`. */
    history: (id: string, page: { before?: string; limit?: number } = {}) =>
      get(HistoryPage, `${at(id, 'history')}${query(page)}`),
    /** A file to look at, by a path that is absolute or from the session's project folder. */
    readFile: (id: string, path: string) => get(FileResult, `${at(id, 'file')}${query({ path })}`),
    answerApproval: (id: string, approvalId: string, answer: ApprovalAnswer) =>
      command('POST', at(id, `approval/${encodeURIComponent(approvalId)}`), answer),
    setConfig: (id: string, optionId: string, value: string) =>
      command('POST', at(id, 'config'), { id: optionId, value }),
    rename: (id: string, title: string) => command('POST', at(id, 'title'), { title }),
    editQueued: (id: string, turnId: string, message: string) =>
      command('PUT', at(id, `queue/${encodeURIComponent(turnId)}`), { message }),
    removeQueued: (id: string, turnId: string) =>
      command('DELETE', at(id, `queue/${encodeURIComponent(turnId)}`)),
  };
}

function at(sessionId: string, action: string): string {
  return `/api/session/${encodeURIComponent(sessionId)}/${action}`;
}

function query(values: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

function parse<T>(schema: Schema<T>, path: string, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ApiError(
    'UNEXPECTED_ANSWER',
    200,
    `The server's answer to ${path} has a wrong shape.`,
    {
      cause: parsed.error,
    },
  );
}
