/** Bodies of the HTTP surface, both ways. A message has at most `MESSAGE_MAX` characters. */
import { z } from 'zod';
import { ContentBlock, FormContent } from '../content.ts';
import { ItemType } from '../items.ts';
import { McpServers } from '../mcp-servers.ts';
import { AgentInfo, Grant, Project, SessionSummary, TurnSummary } from '../sessions.ts';
import { TraceContext } from '../trace-context.ts';
import { UpsertObject } from '../upserts.ts';

/** The most characters of one user message. */
export const MESSAGE_MAX = 1_000_000;

/** The most folders that a session has beside the project's. */
export const DIRECTORIES_MAX = 20;
/** Folders beside the project's, below the server's roots; `~` is the home folder. */
const AdditionalDirectories = z.array(z.string().min(1).max(4096)).max(DIRECTORIES_MAX);

export const CreateSessionBody = z.object({
  cliType: z.string().min(1),
  projectDir: z.string().min(1),
  projectId: z.string().min(1).optional(),
  /** The provider's own start options; also `configOptions` by id. */
  options: z.record(z.string(), z.unknown()).optional(),
  /** For this session, beside those of the configuration; one of the same name takes its place. */
  mcpServers: McpServers.optional(),
  /** Folders beside the project's in which the agent may work. */
  additionalDirectories: AdditionalDirectories.optional(),
});
export type CreateSessionBody = z.infer<typeof CreateSessionBody>;

/**
 * The session's MCP servers beside those of the configuration. They may hold secrets and are not stored: name them again
 * with each load. An agent that runs already gets them when it is next started. `additionalDirectories` are added to the
 * session's own.
 */
export const LoadBody = z.object({
  mcpServers: McpServers.optional(),
  additionalDirectories: AdditionalDirectories.optional(),
});
export type LoadBody = z.infer<typeof LoadBody>;

/**
 * Without a `turnId` the fork ends after the last turn that has ended. `sessionId` names the new session before it is
 * there: a request that is repeated with the same id, because the answer was lost, forks once.
 */
export const ForkBody = z.object({
  turnId: z.string().min(1).optional(),
  sessionId: z.uuid().optional(),
});
export type ForkBody = z.infer<typeof ForkBody>;

/** `remove` has them as the session lists them. */
export const DirectoriesBody = z.object({
  add: AdditionalDirectories.optional(),
  remove: AdditionalDirectories.optional(),
});
export type DirectoriesBody = z.infer<typeof DirectoriesBody>;
/** Their real paths. */
export const DirectoriesResult = z.object({ additionalDirectories: z.array(z.string()) });
export type DirectoriesResult = z.infer<typeof DirectoriesResult>;

/** The kinds of what an agent has found for a session, in the order in which people are shown them. */
export const SetupKind = z.enum(['permissions', 'hooks', 'skills', 'plugins', 'memory']);
export type SetupKind = z.infer<typeof SetupKind>;
/** A rule, hook, skill, plugin or memory file that holds in a session, for people. */
export const SetupEntry = z.object({
  name: z.string(),
  /** Its effect or its purpose. */
  detail: z.string().optional(),
  /** Where it comes from: a file, or the settings that have it. */
  source: z.string().optional(),
  /** It is known, and not in force. */
  isOff: z.boolean().optional(),
});
export type SetupEntry = z.infer<typeof SetupEntry>;
export const SessionSetup = z.object({
  /** Version, account, folder and the like, for people; no secrets. */
  facts: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Only kinds that the agent reports. */
  parts: z.array(z.object({ kind: SetupKind, entries: z.array(SetupEntry) })),
});
export type SessionSetup = z.infer<typeof SessionSetup>;

export const AsideBody = z.object({ question: z.string().trim().min(1).max(20_000) });
export const AsideResult = z.object({ answer: z.string() });
export type AsideResult = z.infer<typeof AsideResult>;

/** Without `callId`: all calls of the running turn that can. */
export const BackgroundBody = z.object({ callId: z.string().min(1).optional() });
export type BackgroundBody = z.infer<typeof BackgroundBody>;

/** What goes back to before a turn: the files, the conversation, or both. */
export const RewindScope = z.enum(['files', 'conversation', 'both']);
export type RewindScope = z.infer<typeof RewindScope>;
/** Without `scope`: the files. With `dryRun` nothing is changed: the answer says what would be. */
export const RewindBody = z.object({
  turnId: z.string().min(1),
  scope: RewindScope.optional(),
  dryRun: z.boolean().optional(),
});
/** How a turn is rewound to, besides which. */
export type RewindOptions = Omit<z.infer<typeof RewindBody>, 'turnId'>;
/** The turns that are taken back, oldest first, and the message of the first one, to be sent again. */
export const TakenBack = z.object({
  turnIds: z.array(z.string()),
  message: z.string(),
  blocks: z.array(ContentBlock).optional(),
});
export type TakenBack = z.infer<typeof TakenBack>;
/** Which files differ from how they were before a turn, or were changed back; with the lines that this adds and takes away. */
export const RewindResult = z.object({
  /** Absolute paths. */
  files: z.array(z.string()),
  insertions: z.number(),
  deletions: z.number(),
  /** How many of them stay as they are: they are links now. */
  skipped: z.number().optional(),
  /** Unless only the files go back. */
  takenBack: TakenBack.optional(),
  /** Why the files stay as they are although the conversation has gone back. */
  problem: z.string().optional(),
});
export type RewindResult = z.infer<typeof RewindResult>;

/**
 * What can be done with an MCP server: connect it anew, switch it on or off, or sign in to it, which the user ends in a
 * browser.
 */
export const McpAction = z.enum(['reconnect', 'on', 'off', 'sign-in']);
export type McpAction = z.infer<typeof McpAction>;
/** An MCP server of a session's agent, as the agent has it now. */
export const McpServerState = z.object({
  name: z.string(),
  state: z.enum(['connected', 'starting', 'failed', 'signed-out', 'off', 'unknown']),
  /** Why it has failed, in the agent's words. */
  problem: z.string().optional(),
  /** How many tools it has, where that is known. */
  tools: z.int().nonnegative().optional(),
  actions: z.array(McpAction),
});
export type McpServerState = z.infer<typeof McpServerState>;
export const McpServersResult = z.object({ servers: z.array(McpServerState) });
export type McpServersResult = z.infer<typeof McpServersResult>;
export const McpActionBody = z.object({ action: McpAction });
/** `url` is the page on which the user signs in. */
export const McpActionResult = z.object({ url: z.url({ protocol: /^https?$/ }).optional() });
export type McpActionResult = z.infer<typeof McpActionResult>;

/** The answer to create, load and fork. */
export const SessionHandle = z.object({ sessionId: z.string(), cliType: z.string() });
export type SessionHandle = z.infer<typeof SessionHandle>;

/** The most attachments of one user message. */
export const BLOCKS_MAX = 20;

const Message = z.string().max(MESSAGE_MAX);
const Blocks = z.array(ContentBlock).max(BLOCKS_MAX);
const saysSomething = ({
  message,
  blocks = [],
}: {
  message: string;
  blocks?: unknown[] | undefined;
}) => message !== '' || blocks.length > 0;
const saysNothing = 'says nothing: give a message or blocks';

/**
 * `turnId` names the turn before it begins: a message that is repeated with the same id, because the answer was lost,
 * is sent once. `blocks` are images, files and links beside the text, which may then be empty; bytes are given in
 * base64, or were uploaded before and are named (`uri: "blob:<hash>"`). `traceContext` is the one that the turn goes on
 * with; without it, that of the request's `traceparent` and `tracestate`. With `runCommand` a message that begins with
 * `!` is a command that its sender runs, where the agent knows that; without it, the message is words for the model.
 */
export const SendBody = z
  .object({
    message: Message,
    turnId: z.uuid().optional(),
    blocks: Blocks.optional(),
    traceContext: TraceContext.optional(),
    runCommand: z.boolean().optional(),
  })
  .refine(saysSomething, saysNothing);
/** Without `blocks` the attachments stay as they are; `runCommand` as for `send`. */
export const QueuedBody = z.object({
  message: Message,
  blocks: Blocks.optional(),
  runCommand: z.boolean().optional(),
});
/** `queued` if another turn goes first. */
export const SendResult = z.object({ turnId: z.string(), queued: z.boolean() });
export type SendResult = z.infer<typeof SendResult>;

/**
 * `messageId` names the message: repeated with the same id, it is said once. If the agent comes to it only after the
 * turn, it is the id of the message's own turn, which then goes on with `traceContext`, as for `send`.
 */
export const SteerBody = z
  .object({
    message: Message,
    messageId: z.uuid().optional(),
    blocks: Blocks.optional(),
    traceContext: TraceContext.optional(),
  })
  .refine(saysSomething, saysNothing);
/** The turn that runs. */
export const SteerResult = z.object({ turnId: z.string() });
export type SteerResult = z.infer<typeof SteerResult>;

/** Which turn is meant: nothing else is ended. By its id here, or by the one that its agent gave it. */
export const NotifyBody = z.object({
  turnId: z.string().min(1).optional(),
  agentTurnId: z.string().min(1).optional(),
});
export type NotifyBody = z.infer<typeof NotifyBody>;
/** The turn that was ended. */
export const NotifyResult = z.object({ turnId: z.string() });
export type NotifyResult = z.infer<typeof NotifyResult>;

/** The message of the queue that it now goes before; without one it goes last. */
export const QueuePlaceBody = z.object({ before: z.string().min(1).optional() });
/** `steered`: the agent has it in the turn that runs; else it is the next one. */
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
  /** The reason; for an option that `takesNote`. */
  note: z.string().max(10_000).optional(),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswerBody>;
export const ConfigBody = z.object({ id: z.string().min(1), value: z.string() });
export const TitleBody = z.object({ title: z.string().trim().min(1).max(200) });

/**
 * A page of a session's conversation, oldest first; `turns` are the heads of its entries' turns. A page may begin in the
 * middle of a turn. It then also has those earlier entries of that turn which belong to the page: calls whose results or
 * inner calls are on it, with what they belong to themselves, and in a running turn all that is still open. They come
 * again with the page that has their place.
 */
export const HistoryPage = z.object({
  entries: z.array(UpsertObject),
  /** The entries from before the page's beginning, with their items' places in the run, from 0. */
  earlier: z
    .array(z.object({ itemId: z.string(), index: z.number().int().nonnegative() }))
    .optional(),
  turns: z.array(TurnSummary),
  /** Where a live reader goes on; empty for a session without a turn. */
  cursor: z.string(),
  hasMore: z.boolean(),
  /** The `?before=` of the next older page. */
  before: z.string().optional(),
});
export type HistoryPage = z.infer<typeof HistoryPage>;

/** The hits of a search: titles of sessions first, then items, newest first. */
export const SearchResult = z.object({
  hits: z.array(
    z.object({
      ...SessionSummary.pick({ sessionId: true, cliType: true, projectId: true, title: true })
        .shape,
      /** Absent if the session's title was found. */
      item: z
        .object({
          runId: z.string(),
          /** Its index among the run's items, from 0. */
          index: z.number().int(),
          itemId: z.string(),
          type: ItemType,
          /** Its turn was taken back: the agent does not know of it any more. */
          takenBack: z.boolean().optional(),
          /** For an output or a permission: the call that it belongs to, and is shown with. */
          callId: z.string().optional(),
        })
        .optional(),
      /** A piece of the text around the hit, on one line. */
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
      /** Relative to the project folder, with forward slashes; a folder's ends with one. */
      path: z.string(),
      name: z.string(),
    }),
  ),
  /** The project has more files than are searched. */
  truncated: z.boolean().optional(),
});
export type FilesResult = z.infer<typeof FilesResult>;

const file = {
  /** Its real path. */
  path: z.string(),
  /** The size of the whole file, in bytes. */
  size: z.number(),
  /** ISO 8601 UTC. */
  modifiedAt: z.string(),
};

/** A file of a session's project for showing: its text, or an image in base64; for other files only that they exist. */
export const FileResult = z.discriminatedUnion('kind', [
  /** `isCut`: the file is longer than the shown text (2 MiB), which is its start. */
  z.object({ kind: z.literal('text'), ...file, text: z.string(), isCut: z.boolean() }),
  z.object({ kind: z.literal('image'), ...file, mimeType: z.string(), data: z.string() }),
  z.object({ kind: z.literal('binary'), ...file }),
]);
export type FileResult = z.infer<typeof FileResult>;

/** Every refusal on the HTTP surface. */
export const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
export type ErrorBody = z.infer<typeof ErrorBody>;
