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
  SessionDiff,
  SessionHandle,
  SessionListResult,
  SessionStatusResult,
  SignInLink,
} from '../wire/http.ts';
import { commands, refusalsOfStarts } from './commands.ts';
import type { Operation } from './operation.ts';

/** Operations that any server answers, even if another server owns the session. */
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
  /** Lists the open sessions of a project, and the sessions that exist only in an agent's own store. */
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
    summary: 'Returns whether a session’s agent runs, and its state.',
    answer: SessionStatusResult,
    refusals: ['SESSION_NOT_FOUND', 'STALE_OWNER'],
  },
  /** A page of the conversation, by default the newest; at most 200 entries. */
  history: {
    method: 'GET',
    path: '/api/session/:id/history',
    summary: 'Returns a page of the conversation, the newest first; starts no agent.',
    query: z.object({
      before: z
        .string()
        .refine(
          (place) => decodeCursor(place) !== undefined,
          'must be a cursor from an earlier page',
        )
        .optional(),
      limit: z.coerce.number<number>().int().min(1).max(200).optional(),
    }),
    answer: HistoryPage,
    refusals: ['SESSION_NOT_FOUND', 'STALE_OWNER'],
  },
  /** A file to show; the path is absolute or relative to the session's project folder. */
  readFile: {
    method: 'GET',
    path: '/api/session/:id/file',
    summary: 'Returns a file of the session’s project for viewing; starts no agent.',
    query: z.object({ path: z.string().min(1).max(4096) }),
    fields: ['path'],
    answer: FileResult,
    refusals: ['SESSION_NOT_FOUND', 'FILE_NOT_FOUND', 'FILE_NOT_ALLOWED', 'FILE_UNREADABLE'],
  },
  /** Does not run programs that the repository's settings name, and changes no files. */
  diff: {
    method: 'GET',
    path: '/api/session/:id/diff',
    summary: 'Lists the files of the session’s git work tree that differ from the last commit.',
    answer: SessionDiff,
    refusals: [
      'SESSION_NOT_FOUND',
      'PROJECT_DIR_NOT_FOUND',
      'PROJECT_DIR_NOT_ALLOWED',
      'FILE_NOT_ALLOWED',
      'DIFF_UNAVAILABLE',
      'SHUTTING_DOWN',
    ],
  },
  /** A run from history; for a running run, its state so far. */
  getRun: {
    method: 'GET',
    path: '/api/run/:id',
    summary: 'Returns a run as its Response.',
    answer: Response,
    refusals: ['RUN_NOT_FOUND'],
  },
  /**
   * Finds titles of sessions, and items, that contain every word of the query. In a running session, the search finds
   * only items that have ended.
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
  /**
   * Lists the sessions in a store that only the agent can read. This is the only list operation that starts an agent.
   */
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
  /** At most 50 folders. */
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
  /**
   * Completes a mention while a user writes a message: see `mentionOf`. Without `q`, lists changed files first, then
   * the files and folders of the top level.
   */
  findFiles: {
    method: 'GET',
    path: '/api/project/files',
    summary: 'Finds files and folders of a project by letters of their names or paths.',
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
  /** Lists the grants in the order in which they were made, oldest first. An answer with “always” creates a grant. */
  listGrants: {
    method: 'GET',
    path: '/api/project/grants',
    summary: 'Lists the permanent decisions that people have made in a project.',
    query: z.object({ projectId: z.string().min(1) }),
    fields: ['projectId'],
    answer: GrantsResult,
    unwrap: 'grants',
    refusals: [],
  },
  /**
   * The change applies from the next call of a tool, in every session of the project. A repeated request has no effect.
   */
  removeGrant: {
    method: 'POST',
    path: '/api/project/grants/remove',
    summary: 'Revokes a permission of a project: people are asked again.',
    body: RemoveGrantBody,
    fields: ['projectId', 'rule'],
    refusals: ['STORE_WRITE_FAILED'],
  },
} as const satisfies Record<string, Operation>;

/** Operations of the runtime that return a single answer. */
export const operations = { ...requests, ...commands };

/** All operations that do not belong to the runtime: streams, and operations of the server itself. */
export const serverOperations = {
  followSession: {
    method: 'GET',
    path: '/api/session/:id/stream',
    summary: 'Follows a session: history and info, then upserts, appends, discards, turns.',
    query: z.object({
      /** The position from which to continue. A `Last-Event-ID` header is newer and takes precedence. */
      cursor: z.string().optional(),
      /** `1`: text is sent as `append` between full upserts. */
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
      /**
       * `1`: if the run has not begun, the stream waits for the run. Then a client that has chosen the run's id itself
       * misses no event.
       */
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
  /** The request's body is the file; its content type is the file's type. Equal bytes are stored only once. */
  putBlob: {
    method: 'POST',
    path: '/api/blob',
    summary: 'Stores a file for a message, which refers to it by the `uri` of the answer.',
    bytes: 'request',
    status: 201,
    answer: UploadedBlob,
    refusals: ['BLOB_TYPE_WRONG', 'STORE_WRITE_FAILED'],
  },
  getBlob: {
    method: 'GET',
    path: '/api/blob/:hash',
    summary: 'Returns a file of a message, by the hash in its `uri`.',
    bytes: 'answer',
    refusals: ['BLOB_NOT_FOUND'],
  },
  /** The answer is JSON Lines; see docs/exports.md. */
  exportSession: {
    method: 'GET',
    path: '/api/session/:id/export',
    summary: 'Returns a session as a file, without secrets; starts no agent.',
    bytes: 'answer',
    refusals: ['SESSION_NOT_FOUND'],
  },
  /** The request's body is the file. Imports the whole file, or nothing. */
  importSession: {
    method: 'POST',
    path: '/api/session/import',
    summary: 'Imports a session’s file; the session can be read but not continued.',
    bytes: 'request',
    status: 201,
    answer: ImportResult,
    refusals: ['EXPORT_UNREADABLE', 'STORE_WRITE_FAILED', 'SHUTTING_DOWN'],
  },
  createSignInLink: {
    method: 'POST',
    path: '/api/sign-in-link',
    summary: 'Returns a code for a link that signs one browser in, once: `/?code=…`.',
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
    summary: 'Reports that the server runs.',
    answer: z.object({ ok: z.literal(true), version: z.string() }),
    access: 'open',
    refusals: [],
  },
  /**
   * For load balancers. Fails while the server is stopping, or while a service that the server needs cannot be reached.
   */
  ready: {
    method: 'GET',
    path: '/readyz',
    summary: 'Reports whether the server is ready for work, or what is missing.',
    answer: z.object({ ok: z.literal(true) }),
    access: 'open',
    refusals: ['NOT_READY'],
  },
} as const satisfies Record<string, Operation>;
