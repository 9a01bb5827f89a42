/** Bodies of HTTP requests and answers. A message has at most `messageMax` characters. */
import { z } from 'zod';
import { ContentBlock, FormContent } from '../content.ts';
import { ItemType } from '../items.ts';
import { McpServers } from '../mcp-servers.ts';
import { AgentInfo, Grant, Project, SessionSummary, TurnSummary } from '../sessions.ts';
import { TraceContext } from '../trace-context.ts';
import { UpsertObject } from '../upserts.ts';

/** The most characters of one user message. */
export const messageMax = 1_000_000;

/** The most folders of a session besides the project's. */
export const directoriesMax = 20;
/** Additional folders, which must lie below the server's roots; `~` is the home folder. */
const AdditionalDirectories = z.array(z.string().min(1).max(4096)).max(directoriesMax);

export const CreateSessionBody = z.object({
  cliType: z.string().min(1),
  projectDir: z.string().min(1),
  projectId: z.string().min(1).optional(),
  /** The provider's own options for starting a session. Values of `configOptions`, by their ids, are also allowed. */
  options: z.record(z.string(), z.unknown()).optional(),
  /**
   * Servers for this session, in addition to the configured servers. If a server has the name of a configured server,
   * the new server replaces the configured server.
   */
  mcpServers: McpServers.optional(),
  /** Additional folders in which the agent may work. */
  additionalDirectories: AdditionalDirectories.optional(),
});
export type CreateSessionBody = z.infer<typeof CreateSessionBody>;

/**
 * `mcpServers` are servers for this session, in addition to the configured servers. The servers may contain secrets and
 * are not stored: the client must send them again with each load. A running agent gets them only when it is started
 * again. `additionalDirectories` are added to the session's folders.
 */
export const LoadBody = z.object({
  mcpServers: McpServers.optional(),
  additionalDirectories: AdditionalDirectories.optional(),
});
export type LoadBody = z.infer<typeof LoadBody>;

/**
 * Without a `turnId`, the fork ends after the last turn that has ended. `sessionId` is the new session's id, chosen by
 * the client. If the client repeats a request with the same id because the answer was lost, only one fork is created.
 */
export const ForkBody = z.object({
  turnId: z.string().min(1).optional(),
  sessionId: z.uuid().optional(),
});
export type ForkBody = z.infer<typeof ForkBody>;

/** `remove`: paths in the form in which the session lists them. */
export const DirectoriesBody = z.object({
  add: AdditionalDirectories.optional(),
  remove: AdditionalDirectories.optional(),
});
export type DirectoriesBody = z.infer<typeof DirectoriesBody>;
/** The folders' real paths. */
export const DirectoriesResult = z.object({ additionalDirectories: z.array(z.string()) });
export type DirectoriesResult = z.infer<typeof DirectoriesResult>;

/** The kinds of setup entries, in the order in which people see them. */
export const SetupKind = z.enum(['permissions', 'hooks', 'skills', 'plugins', 'memory']);
export type SetupKind = z.infer<typeof SetupKind>;
/** A rule, hook, skill, plugin or memory file of a session, for people. */
export const SetupEntry = z.object({
  name: z.string(),
  /** The entry's effect or purpose. */
  detail: z.string().optional(),
  /** The file or the settings that contain the entry. */
  source: z.string().optional(),
  /** Whether the entry exists but is switched off. */
  isOff: z.boolean().optional(),
});
export type SetupEntry = z.infer<typeof SetupEntry>;
export const SessionSetup = z.object({
  /** Facts for people, such as version, account and folder; no secrets. */
  facts: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Only the kinds of entries that the agent reports. */
  parts: z.array(z.object({ kind: SetupKind, entries: z.array(SetupEntry) })),
});
export type SessionSetup = z.infer<typeof SessionSetup>;

export const AsideBody = z.object({ question: z.string().trim().min(1).max(20_000) });
export const AsideResult = z.object({ answer: z.string() });
export type AsideResult = z.infer<typeof AsideResult>;

/** Without `callId`, all calls of the running turn that can be moved to the background are moved. */
export const BackgroundBody = z.object({ callId: z.string().min(1).optional() });
export type BackgroundBody = z.infer<typeof BackgroundBody>;

/** The parts that a rewind restores: the files, the conversation, or both. */
export const RewindScope = z.enum(['files', 'conversation', 'both']);
export type RewindScope = z.infer<typeof RewindScope>;
/**
 * Without `scope`, only the files are restored. With `dryRun`, nothing is changed, and the answer contains the changes
 * that would be made.
 */
export const RewindBody = z.object({
  turnId: z.string().min(1),
  scope: RewindScope.optional(),
  dryRun: z.boolean().optional(),
});
/** The options of a rewind, besides the turn. */
export type RewindOptions = Omit<z.infer<typeof RewindBody>, 'turnId'>;
/**
 * The turns that were taken back, oldest first, and the message of the oldest turn, so that the person can send this
 * message again.
 */
export const TakenBack = z.object({
  turnIds: z.array(z.string()),
  message: z.string(),
  blocks: z.array(ContentBlock).optional(),
});
export type TakenBack = z.infer<typeof TakenBack>;
/**
 * The files that a rewind would restore or has restored to their state before a turn, with the numbers of lines that
 * restoring adds and removes.
 */
export const RewindResult = z.object({
  /** Absolute paths. */
  files: z.array(z.string()),
  insertions: z.number(),
  deletions: z.number(),
  /** The number of files that are not restored because a link is now in the place of each file. */
  skipped: z.number().optional(),
  /** Absent if the rewind restores only the files. */
  takenBack: TakenBack.optional(),
  /** Why the files were not restored, if only the conversation was taken back. */
  problem: z.string().optional(),
});
export type RewindResult = z.infer<typeof RewindResult>;

/**
 * The actions on an MCP server: to reconnect it, to switch it on or off, or to sign in to it (the user completes the
 * sign-in in a browser).
 */
export const McpAction = z.enum(['reconnect', 'on', 'off', 'sign-in']);
export type McpAction = z.infer<typeof McpAction>;
/** An MCP server of a session's agent, in its current state. */
export const McpServerState = z.object({
  name: z.string(),
  state: z.enum(['connected', 'starting', 'failed', 'signed-out', 'off', 'unknown']),
  /** The reason why the server has failed, as the agent reports it. */
  problem: z.string().optional(),
  /** The number of tools that the server has, if it is known. */
  tools: z.int().nonnegative().optional(),
  actions: z.array(McpAction),
});
export type McpServerState = z.infer<typeof McpServerState>;
export const McpServersResult = z.object({ servers: z.array(McpServerState) });
export type McpServersResult = z.infer<typeof McpServersResult>;
export const McpActionBody = z.object({ action: McpAction });
/** `url` is the page on which the user can sign in. */
export const McpActionResult = z.object({ url: z.url({ protocol: /^https?$/ }).optional() });
export type McpActionResult = z.infer<typeof McpActionResult>;

/** The answer of the operations create, load and fork. */
export const SessionHandle = z.object({ sessionId: z.string(), cliType: z.string() });
export type SessionHandle = z.infer<typeof SessionHandle>;

/** The most attachments of one user message. */
export const blocksMax = 20;

const MessageText = z.string().max(messageMax);
const Blocks = z.array(ContentBlock).max(blocksMax);
const hasContent = ({
  message,
  blocks = [],
}: {
  message: string;
  blocks?: unknown[] | undefined;
}) => message !== '' || blocks.length > 0;
const emptyMessageProblem = 'is empty: give a message or blocks';

/**
 * `turnId` is the new turn's id, chosen by the client. If the client repeats a message with the same id because the
 * answer was lost, the message is sent only once. `blocks` are images, files and links in addition to the text; with
 * blocks, the text may be empty. The bytes of a block are in base64, or were uploaded before (`uri: "blob:<hash>"`).
 * `traceContext` is the turn's trace; by default, the trace in the request's `traceparent` and `tracestate`. With
 * `runCommand`, a message that begins with `!` is a shell command that runs for the sender, if the agent supports this.
 * Without `runCommand`, such a message is text for the model.
 */
export const SendBody = z
  .object({
    message: MessageText,
    turnId: z.uuid().optional(),
    blocks: Blocks.optional(),
    traceContext: TraceContext.optional(),
    runCommand: z.boolean().optional(),
  })
  .refine(hasContent, emptyMessageProblem);
/** Without `blocks`, the attachments do not change; for `runCommand` see `send`. */
export const QueuedBody = z.object({
  message: MessageText,
  blocks: Blocks.optional(),
  runCommand: z.boolean().optional(),
});
/** `queued`: whether other turns run before the message's turn. */
export const SendResult = z.object({ turnId: z.string(), queued: z.boolean() });
export type SendResult = z.infer<typeof SendResult>;

/**
 * `messageId` is chosen by the sender. A repeated request with the same id sends the message only once. If the agent
 * handles the message only after the running turn, the message gets its own turn: then `messageId` is the id of the new
 * turn, and `traceContext` is the trace of the new turn, as for `send`.
 */
export const SteerBody = z
  .object({
    message: MessageText,
    messageId: z.uuid().optional(),
    blocks: Blocks.optional(),
    traceContext: TraceContext.optional(),
  })
  .refine(hasContent, emptyMessageProblem);
/** The id of the running turn. */
export const SteerResult = z.object({ turnId: z.string() });
export type SteerResult = z.infer<typeof SteerResult>;

/** The turn to end: its id in Liminal, or the agent's own id. If a different turn is running, nothing is ended. */
export const NotifyBody = z.object({
  turnId: z.string().min(1).optional(),
  agentTurnId: z.string().min(1).optional(),
});
export type NotifyBody = z.infer<typeof NotifyBody>;
/** The id of the turn that was ended. */
export const NotifyResult = z.object({ turnId: z.string() });
export type NotifyResult = z.infer<typeof NotifyResult>;

/**
 * `before`: the id of the queued message before which the message is moved. Without `before`, the message becomes the
 * last in the queue.
 */
export const QueuePlaceBody = z.object({ before: z.string().min(1).optional() });
/**
 * `steered`: whether the agent received the message in the running turn. If not, the message is the next in the queue.
 */
export const SendNowResult = z.object({ turnId: z.string(), steered: z.boolean() });
export type SendNowResult = z.infer<typeof SendNowResult>;

export const SessionStatusResult = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  isAlive: z.boolean(),
  state: SessionSummary.shape.state,
  queuePaused: SessionSummary.shape.queuePaused,
});
export type SessionStatusResult = z.infer<typeof SessionStatusResult>;

export const SessionListResult = z.object({ sessions: z.array(SessionSummary) });
export const ProjectsResult = z.object({ projects: z.array(Project) });
export const GrantsResult = z.object({ grants: z.array(Grant) });
export const RemoveGrantBody = z.object({ projectId: z.string().min(1), rule: z.string().min(1) });
/** The code of a link that signs one browser in: `/?code=…`. */
export const SignInLink = z.object({ code: z.string() });

export const AgentsResult = z.object({ agents: z.array(AgentInfo) });

/** An answer to a permission request. */
export const ApprovalAnswerBody = z.object({
  optionId: z.string().min(1),
  /** The filled-in form, if the request has one. */
  content: FormContent.optional(),
  /** The person's reason; only allowed for an option with `takesNote`. */
  note: z.string().max(10_000).optional(),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswerBody>;
export const ConfigBody = z.object({ id: z.string().min(1), value: z.string() });
export const TitleBody = z.object({ title: z.string().trim().min(1).max(200) });

/**
 * A page of a session's conversation, oldest first; `turns` are the turns of the entries. A page may begin in the
 * middle of a turn. Such a page also has earlier entries of the turn: calls whose results or inner calls are on the
 * page, the parent calls of those calls, and, in a running turn, all open items. These earlier entries are repeated on
 * the page on which they began.
 */
export const HistoryPage = z.object({
  entries: z.array(UpsertObject),
  /** The entries that began before the page, with the indexes of their items in the run, from 0. */
  earlier: z
    .array(z.object({ itemId: z.string(), index: z.number().int().nonnegative() }))
    .optional(),
  turns: z.array(TurnSummary),
  /** The position from which a live reader continues; empty for a session without a turn. */
  cursor: z.string(),
  hasMore: z.boolean(),
  /** The `?before=` of the next older page. */
  before: z.string().optional(),
});
export type HistoryPage = z.infer<typeof HistoryPage>;

/** The hits of a search: first titles of sessions, then items, newest first. */
export const SearchResult = z.object({
  hits: z.array(
    z.object({
      ...SessionSummary.pick({ sessionId: true, cliType: true, projectId: true, title: true })
        .shape,
      /** Absent if the hit is the session's title. */
      item: z
        .object({
          runId: z.string(),
          /** The item's index among the run's items, from 0. */
          index: z.number().int(),
          itemId: z.string(),
          type: ItemType,
          /** Whether the item's turn was taken back. The agent then no longer knows the turn. */
          takenBack: z.boolean().optional(),
          /** For an output or a permission request, the call with which it is shown. */
          callId: z.string().optional(),
        })
        .optional(),
      /** A piece of the text around the hit; its line ends are removed. */
      snippet: z.string(),
    }),
  ),
});
export type SearchResult = z.infer<typeof SearchResult>;

/** Folders below the allowed roots, for choosing a project. */
export const FoldersResult = z.object({
  folders: z.array(z.object({ path: z.string(), name: z.string() })),
});
export type FoldersResult = z.infer<typeof FoldersResult>;

/** Files and folders of a project, the best match first. */
export const FilesResult = z.object({
  files: z.array(
    z.object({
      /** The path relative to the project folder, with forward slashes; a folder's path ends with a slash. */
      path: z.string(),
      name: z.string(),
    }),
  ),
  /** Whether the project has more files than the server searches. */
  truncated: z.boolean().optional(),
});
export type FilesResult = z.infer<typeof FilesResult>;

const file = {
  /** The file's real path. */
  path: z.string(),
  /** The size of the whole file, in bytes. */
  size: z.number(),
  /** ISO 8601 UTC. */
  modifiedAt: z.string(),
};

/**
 * A file of a session's project, for viewing. Contains the file's text, or an image in base64; of other files, contains
 * only the size and the time.
 */
export const FileResult = z.discriminatedUnion('kind', [
  /** `isCut`: the file is longer than 2 MiB, and the text is only its start. */
  z.object({ kind: z.literal('text'), ...file, text: z.string(), isCut: z.boolean() }),
  z.object({ kind: z.literal('image'), ...file, mimeType: z.string(), data: z.string() }),
  z.object({ kind: z.literal('binary'), ...file }),
]);
export type FileResult = z.infer<typeof FileResult>;

/** A changed part of a file, with up to three unchanged lines before and after it. */
export const DiffHunk = z.object({
  /** The number of the hunk's first line on each side, from 1. */
  oldStart: z.number(),
  newStart: z.number(),
  /**
   * Each line begins with `-`, `+` or a space; a line without a line end is followed by a line that begins with a
   * backslash.
   */
  lines: z.array(z.string()),
});
export type DiffHunk = z.infer<typeof DiffHunk>;

/** The reason why the content of a changed file is not shown. */
export const Unshown = z.enum([
  /** The old or the new content is not text. */
  'binary',
  /** The old or the new content is larger than 1 MiB. */
  'large',
  /** The answer has reached its largest total size. */
  'limit',
  /**
   * Git stores the file through a program that the repository's settings name (Git LFS, for example); Liminal does not
   * run that program.
   */
  'filtered',
  /** The committed content is missing in this clone. */
  'missing',
  /** The server cannot read the file. */
  'unreadable',
  /** A nested git repository, into which git does not look. */
  'repository',
  /** The file's name is not UTF-8. */
  'name',
]);
export type Unshown = z.infer<typeof Unshown>;

/** A file that differs from the last commit. Paths are relative to the top of the work tree, with forward slashes. */
export const ChangedFile = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted', 'renamed', 'untracked']),
  /** The file's path in the last commit, if the file was renamed. */
  oldPath: z.string().optional(),
  /** Git's file modes, if they differ: `100755` is a program, `120000` a symbolic link, `160000` a submodule. */
  oldMode: z.string().optional(),
  newMode: z.string().optional(),
  /** The numbers of added and removed lines; absent if the contents were not compared. */
  added: z.number().optional(),
  removed: z.number().optional(),
  /** Empty if the content is the same, or is not shown. */
  hunks: z.array(DiffHunk),
  /** The file has more changed lines than are shown. */
  isCut: z.boolean().optional(),
  unshown: Unshown.optional(),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

/** The differences between a session's work tree and its last commit. */
export const SessionDiff = z.object({
  /** The real path of the work tree's top. */
  root: z.string(),
  /** The id of the last commit; absent if the repository has no commit. */
  commit: z.string().optional(),
  /** Absent if `HEAD` is detached (not on a branch). */
  branch: z.string().optional(),
  /** In order of their paths; at most 500. */
  files: z.array(ChangedFile),
  /** The number of further files that may differ but were not compared. */
  unlisted: z.number().optional(),
  /**
   * The number of files that differ but must not be shown, because they lie outside the folders in which sessions may
   * work.
   */
  hidden: z.number().optional(),
});
export type SessionDiff = z.infer<typeof SessionDiff>;

/** The body of every refusal over HTTP. */
export const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
