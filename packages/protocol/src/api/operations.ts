import { z } from 'zod';
import { UploadedBlob } from '../blobs.ts';
import { decodeCursor } from '../cursor.ts';
import { ImportResult } from '../exports/export-file.ts';
import { Response } from '../response.ts';
import {
  AgentsResult,
  CreateSessionBody,
  FileResult,
  FilesResult,
  FoldersResult,
  GrantsResult,
  HistoryPage,
  ProjectsResult,
  RemoveGrantBody,
  SearchResult,
  SessionHandle,
  SessionListResult,
  SessionStatusResult,
  SignInLink,
} from '../wire/http.ts';
import { commands, refusalsOfStarts } from './commands.ts';
import type { Operation } from './operation.ts';

/** Operations that any server answers, even if another one owns the session. */
const requests = {
  createSession: {
    method: 'POST',
    path: '/api/session/create',
    summary: 'Starts an agent in a project folder.',
    body: CreateSessionBody,
    status: 201,
    answer: SessionHandle,
    refusals: [
      ...refusalsOfStarts,
      'NOT_SUPPORTED',
      'TOO_MANY_SESSIONS',
      'STORE_WRITE_FAILED',
      'SHUTTING_DOWN',
    ],
  },
  /** Open sessions of a project, and those that only an agent's own store has. */
  listSessions: {
    method: 'GET',
    path: '/api/session/list',
    summary: 'Lists the open sessions of a project, and those in the agents’ own stores.',
    query: z.object({ projectId: z.string().optional() }),
    fields: ['projectId'],
    answer: SessionListResult,
    unwrap: 'sessions',
    refusals: ['PROJECT_ID_REQUIRED'],
  },
  status: {
    method: 'GET',
    path: '/api/session/:id/status',
    summary: 'Says whether a session’s agent runs, and what it does.',
    answer: SessionStatusResult,
    refusals: ['SESSION_NOT_FOUND', 'STALE_OWNER'],
  },
  /** A page of the conversation, the newest one without `before`; at most 200 entries. */
  history: {
    method: 'GET',
    path: '/api/session/:id/history',
    summary: 'Gives a page of the conversation, the newest first; starts no agent.',
    query: z.object({
      before: z
        .string()
        .refine((place) => decodeCursor(place) !== undefined, 'is no place that a page has given')
        .optional(),
      limit: z.coerce.number<number>().int().min(1).max(200).optional(),
    }),
    answer: HistoryPage,
    refusals: ['SESSION_NOT_FOUND', 'STALE_OWNER'],
  },
  /** A file for showing; the path is absolute or relative to the session's project folder. */
  readFile: {
    method: 'GET',
    path: '/api/session/:id/file',
    summary: 'Gives a file of the session’s project to look at; starts no agent.',
    query: z.object({ path: z.string().min(1).max(4096) }),
    fields: ['path'],
    answer: FileResult,
    refusals: ['SESSION_NOT_FOUND', 'FILE_NOT_FOUND', 'FILE_NOT_ALLOWED', 'FILE_UNREADABLE'],
  },
  /** A run from history, or so far. */
  getRun: {
    method: 'GET',
    path: '/api/run/:id',
    summary: 'Gives a run as its Response.',
    answer: Response,
    refusals: ['RUN_NOT_FOUND'],
  },
  /**
   * Titles of sessions, and items by their text, that have every word of the query; in a running session only items
   * that have ended.
   */
  search: {
    method: 'GET',
    path: '/api/search',
    summary: 'Finds sessions by their titles, and items by their text.',
    query: z.object({
      q: z.string().max(1_000),
      projectId: z.string().optional(),
      limit: z.coerce.number<number>().int().min(1).max(100).default(20),
    }),
    fields: ['q'],
    answer: SearchResult,
    refusals: [],
  },
  listAgents: {
    method: 'GET',
    path: '/api/agents',
    summary: 'Lists the agent types, and whether each can run here.',
    answer: AgentsResult,
    unwrap: 'agents',
    refusals: [],
  },
  /** The sessions in a store that only its agent can read. No other list operation starts an agent. */
  findSessions: {
    method: 'POST',
    path: '/api/agents/:cliType/sessions',
    summary: 'Asks an agent for the sessions in its own store; starts it if it does not run.',
    answer: SessionListResult,
    unwrap: 'sessions',
    refusals: [
      'UNSUPPORTED_CLI_TYPE',
      'NOT_SUPPORTED',
      'SESSION_CREATE_FAILED',
      'PROCESS_CRASH',
      'PROTOCOL_ERROR',
      'SHUTTING_DOWN',
    ],
  },
  listProjects: {
    method: 'GET',
    path: '/api/projects',
    summary: 'Lists all projects with their sessions, also those in the agents’ own stores.',
    answer: ProjectsResult,
    unwrap: 'projects',
    refusals: [],
  },
  /** At most 50. */
  listFolders: {
    method: 'GET',
    path: '/api/folders',
    summary: 'Lists folders below the allowed roots whose path begins with a prefix.',
    query: z.object({ prefix: z.string().max(4096).default('') }),
    fields: ['prefix'],
    answer: FoldersResult,
    unwrap: 'folders',
    refusals: [],
  },
  /** For a message that mentions files: see `mentionOf`. Without `q`: what was changed, then what lies at the top. */
  findFiles: {
    method: 'GET',
    path: '/api/project/files',
    summary: 'Finds files and folders of a project by a few letters of their names or paths.',
    query: z.object({
      projectDir: z.string().min(1).max(4096),
      q: z.string().max(1_000).default(''),
      limit: z.coerce.number<number>().int().min(1).max(100).default(20),
    }),
    fields: ['projectDir', 'q'],
    answer: FilesResult,
    refusals: [
      'PROJECT_DIR_NOT_FOUND',
      'PROJECT_DIR_NOT_ALLOWED',
      'FILE_UNREADABLE',
      'SHUTTING_DOWN',
    ],
  },
  /** The first granted first. Answers of “always” make them. */
  listGrants: {
    method: 'GET',
    path: '/api/project/grants',
    summary: 'Lists what people have decided for good in a project.',
    query: z.object({ projectId: z.string().min(1) }),
    fields: ['projectId'],
    answer: GrantsResult,
    unwrap: 'grants',
    refusals: [],
  },
  /** Counts from the next call of a tool, in every session of the project. Asked again, it does nothing. */
  removeGrant: {
    method: 'POST',
    path: '/api/project/grants/remove',
    summary: 'Takes a permission of a project back: people are asked again.',
    body: RemoveGrantBody,
    fields: ['projectId', 'rule'],
    refusals: ['STORE_WRITE_FAILED'],
  },
} as const satisfies Record<string, Operation>;

/** Operations of the runtime that are answered once. */
export const operations = { ...requests, ...commands };

/** The other operations: streams, and those of the server itself. */
export const serverOperations = {
  followSession: {
    method: 'GET',
    path: '/api/session/:id/stream',
    summary: 'Follows a session: history and info, then upserts, appends, discards, turns.',
    query: z.object({
      /** Where the reader goes on; a `Last-Event-ID` is newer and wins. */
      cursor: z.string().optional(),
      /** `1`: text as `append` between full upserts. */
      deltas: z.enum(['0', '1']).optional(),
    }),
    streams: true,
    refusals: ['SESSION_NOT_FOUND', 'STALE_OWNER', 'TOO_MANY_CONNECTIONS'],
  },
  followRun: {
    method: 'GET',
    path: '/api/run/:id/events',
    summary: 'Follows a run as canonical events, up to its terminal event.',
    query: z.object({
      /** `1`: a run that has not begun is waited for. Whoever chose its id misses nothing of it then. */
      wait: z.enum(['0', '1']).optional(),
      /** `responses`: each event is a `ResponsesEvent` (seed 001, A.1), and a snapshot a `ResponsesResponse`. */
      format: z
        .enum(['canonical', 'responses'])
        .meta({
          description:
            '`responses`: each event is a ResponsesEvent, in snake case with UUIDs and milliseconds, and a snapshot is a ResponsesResponse. `canonical`, the default: StreamEvent and Response.',
        })
        .optional(),
    }),
    streams: true,
    refusals: ['RUN_NOT_FOUND', 'INVALID_CURSOR', 'TOO_MANY_CONNECTIONS'],
  },
  /** The request's body is the file, its content type the file's. The same bytes are kept once. */
  putBlob: {
    method: 'POST',
    path: '/api/blob',
    summary: 'Keeps a file for a message, which names it by the `uri` of the answer.',
    bytes: 'request',
    status: 201,
    answer: UploadedBlob,
    refusals: ['BLOB_TYPE_WRONG', 'STORE_WRITE_FAILED'],
  },
  getBlob: {
    method: 'GET',
    path: '/api/blob/:hash',
    summary: 'Gives a file of a message, by the hash in its `uri`.',
    bytes: 'answer',
    refusals: ['BLOB_NOT_FOUND'],
  },
  /** The answer is JSON Lines; see docs/exports.md. */
  exportSession: {
    method: 'GET',
    path: '/api/session/:id/export',
    summary: 'Gives a session as a file, without secrets; starts no agent.',
    bytes: 'answer',
    refusals: ['SESSION_NOT_FOUND'],
  },
  /** The request's body is the file. All of it is imported, or nothing. */
  importSession: {
    method: 'POST',
    path: '/api/session/import',
    summary: 'Reads a session’s file; the session can be looked at, and does not go on.',
    bytes: 'request',
    status: 201,
    answer: ImportResult,
    refusals: ['EXPORT_UNREADABLE', 'STORE_WRITE_FAILED', 'SHUTTING_DOWN'],
  },
  createSignInLink: {
    method: 'POST',
    path: '/api/sign-in-link',
    summary: 'Gives a code for a link that signs one browser in, once: `/?code=…`.',
    answer: SignInLink,
    refusals: [],
  },
  signOut: {
    method: 'POST',
    path: '/api/sign-out',
    summary: 'Signs this browser out; with `everywhere`, every browser that has signed in.',
    body: z.object({ everywhere: z.boolean().optional() }).optional(),
    refusals: ['STORE_WRITE_FAILED'],
  },
  health: {
    method: 'GET',
    path: '/healthz',
    summary: 'Says that the server is there.',
    answer: z.object({ ok: z.literal(true), version: z.string() }),
    access: 'open',
    refusals: [],
  },
  /** For balancers: not while the server ends, or what it needs cannot be reached. */
  ready: {
    method: 'GET',
    path: '/readyz',
    summary: 'Says whether the server is ready for work, or what it lacks.',
    answer: z.object({ ok: z.literal(true) }),
    access: 'open',
    refusals: ['NOT_READY'],
  },
} as const satisfies Record<string, Operation>;
