/** The server's data about sessions, projects and agents. */
import { z } from 'zod';
import { ContentBlock } from './content.ts';
import { ErrorObject } from './items.ts';
import { TraceContext } from './trace-context.ts';
import { Usage } from './usage.ts';

/** The five states of a session, each with its mark, the same everywhere. `waiting` means that it needs the user. */
export const SessionState = z.enum(['idle', 'queued', 'running', 'waiting', 'failed']);
export type SessionState = z.infer<typeof SessionState>;

/** Where a session was forked from: the other session, the last turn that they share, and its title then. */
export const ForkOrigin = z.object({
  sessionId: z.string(),
  turnId: z.string(),
  title: z.string(),
});
export type ForkOrigin = z.infer<typeof ForkOrigin>;

/** The file that a session was imported from: the session's id in it, and when it was exported (ISO 8601 UTC). */
export const ImportOrigin = z.object({ sessionId: z.string(), exportedAt: z.string() });
export type ImportOrigin = z.infer<typeof ImportOrigin>;

export const SessionSummary = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  projectId: z.string(),
  projectDir: z.string(),
  /** The real paths of folders beside the project's in which its agent may work. */
  additionalDirectories: z.array(z.string()).optional(),
  title: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
  state: SessionState,
  /** While it waits: since when, by the oldest open request. */
  waitingSince: z.string().optional(),
  /** Whether an agent process runs for it. */
  isAlive: z.boolean(),
  /** Whether it is open in the server (created or loaded, not killed). */
  active: z.boolean(),
  /** Messages wait, and none is sent before a person resumes the queue: a person has stopped a turn. */
  queuePaused: z.boolean().optional(),
  /** Its last turn was cut off by the end of a server, and no turn has followed. */
  interrupted: z.boolean().optional(),
  /** It has neither a message nor a name. */
  empty: z.boolean().optional(),
  /** Put away by a person; a message brings it back. */
  archived: z.boolean().optional(),
  /** Kept at the top by a person. */
  pinned: z.boolean().optional(),
  /** `agent`: known only from the agent's own store until it is opened. */
  source: z.enum(['liminal', 'agent']),
  forkedFrom: ForkOrigin.optional(),
  /** It came from a file: it can be read, and does not go on. */
  importedFrom: ImportOrigin.optional(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Whether a turn with this error was cut off by the end or the loss of its server. */
export const isInterruption = (code: string | undefined): boolean =>
  code === 'SERVER_ENDED' || code === 'OWNER_LOST';

/** The message with which a person lets an agent go on after an interruption. */
export const continueMessage = 'Continue.';

export const Project = z.object({
  projectId: z.string(),
  projectDir: z.string(),
  name: z.string(),
  /** Newest first. */
  sessions: z.array(SessionSummary),
});
export type Project = z.infer<typeof Project>;

/** What Liminal's own tools may do in a project without asking, since a person has said “always”. */
export const Grant = z.object({
  /** For programs: `tool:edit`, `command:git log`, `edit:src/`. */
  rule: z.string(),
  /** For people: `edits in src/`. */
  title: z.string(),
  /** ISO 8601 UTC. */
  grantedAt: z.string(),
});
export type Grant = z.infer<typeof Grant>;

/** A message that waits for its turn; `sending` once it is being given to the agent. */
export const QueuedMessage = z.object({
  turnId: z.string(),
  message: z.string(),
  blocks: z.array(ContentBlock).optional(),
  /** ISO 8601 UTC. */
  queuedAt: z.string(),
  /** Of the request that brought it. */
  traceContext: TraceContext.optional(),
  state: z.enum(['queued', 'sending']),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/** A setting of a session that people can change, in ACP's shape for session config options. */
export const ConfigOption = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** `model`, `mode`, `thought_level` or the agent's own. */
  category: z.string().optional(),
  currentValue: z.string(),
  options: z.array(
    z.object({
      value: z.string(),
      name: z.string(),
      description: z.string().optional(),
      /** Consecutive choices of one group have this name. */
      group: z.string().optional(),
    }),
  ),
  /**
   * Values that are not listed can be set, too, and begin with one of these prefixes. People may type such a value without
   * a prefix: the first is then put before it.
   */
  takesOther: z.array(z.string()).optional(),
});
export type ConfigOption = z.infer<typeof ConfigOption>;

/** A slash command that the agent offers, without its slash. */
export const AgentCommand = z.object({
  name: z.string(),
  description: z.string(),
  hint: z.string().optional(),
  /** Other names by which people may call it. */
  aliases: z.array(z.string()).optional(),
});
export type AgentCommand = z.infer<typeof AgentCommand>;

/** A notice about a session for people, outside its turns. */
export const SessionNotice = z.object({
  level: z.enum(['info', 'warning']),
  text: z.string(),
  /** `agent`: the agent says the same in all of its sessions, so that a person dismisses it once. */
  about: z.enum(['agent']).optional(),
});
export type SessionNotice = z.infer<typeof SessionNotice>;

/** A window in which the agent's account may use so much. */
export const UsageLimit = z.object({
  /** For people, for example `5-hour limit`. */
  name: z.string(),
  /** How much of it is used, in percent. */
  usedPercent: z.number().optional(),
  /** When it begins anew, ISO 8601 UTC. */
  resetsAt: z.string().optional(),
  /** Nothing more may be used before that. */
  isReached: z.boolean().optional(),
});
export type UsageLimit = z.infer<typeof UsageLimit>;

/** What an agent has running beside its turns; it may outlive the turn that began it. */
export const BackgroundTask = z.object({
  taskId: z.string(),
  /** For people: the command, or what is to be done. */
  title: z.string(),
  kind: z.enum(['command', 'agent', 'other']),
  /** The tool call that began it. */
  callId: z.string().optional(),
  /** ISO 8601 UTC. */
  startedAt: z.string(),
  /** What it does now, in words, or the last of what it has printed. */
  progress: z.string().optional(),
});
export type BackgroundTask = z.infer<typeof BackgroundTask>;

/** Kinds of files that an agent takes in a message, as MIME types; `image/*` is any image. */
export const AcceptedContent = z.object({
  image: z.array(z.string()),
  audio: z.array(z.string()),
  resource: z.array(z.string()),
});
export type AcceptedContent = z.infer<typeof AcceptedContent>;

/** Everything about an open session that is not its conversation. */
export const SessionInfo = z.object({
  session: SessionSummary,
  queue: z.array(QueuedMessage),
  configOptions: z.array(ConfigOption),
  commands: z.array(AgentCommand),
  usage: Usage.optional(),
  /** What runs beside the turns. */
  tasks: z.array(BackgroundTask).optional(),
  /** Of the agent's account, where the agent tells. */
  limits: z.array(UsageLimit).optional(),
  notices: z.array(SessionNotice).optional(),
  /** What the agent waits for while its turn is silent, for people: for example a retry after an overloaded model. */
  activity: z.string().optional(),
  /** What a message may have besides its text; absent until the agent has said. */
  accepts: AcceptedContent.optional(),
  /** Whether the agent takes messages in the middle of a turn; absent until it has said. */
  canSteer: z.boolean().optional(),
  /**
   * Settings, commands, usage and limits are as an agent last reported them, before the server was restarted or took the
   * session from another one. To change a setting starts the agent.
   */
  lastKnown: z.boolean().optional(),
});
export type SessionInfo = z.infer<typeof SessionInfo>;

/** A turn's head, without its items. Times are milliseconds since the epoch; `endedAt` is absent while it runs. */
export const TurnSummary = z.object({
  turnId: z.string(),
  runId: z.string(),
  modelId: z.string(),
  providerId: z.string(),
  status: z.enum(['in_progress', 'complete', 'error', 'aborted']),
  trigger: z.enum(['user', 'agent']).optional(),
  startedAt: z.number(),
  endedAt: z.number().optional(),
  usage: Usage.optional(),
  /** See `turn_complete`. */
  finishReason: z.string().optional(),
  error: ErrorObject.optional(),
  /** It took back the named turn and all later ones. */
  rewoundTo: z.string().optional(),
  /** It was made outside Liminal, for example in a terminal, and found in the agent's own store. */
  madeElsewhere: z.boolean().optional(),
});
export type TurnSummary = z.infer<typeof TurnSummary>;

/** An agent type of the server, and whether it can run here. */
export const AgentInfo = z.object({
  cliType: z.string(),
  name: z.string(),
  /** One sentence for people. */
  description: z.string(),
  available: z.boolean(),
  /** Why not, or what is missing for full use, and what to do about it. */
  reason: z.string().optional(),
  version: z.string().optional(),
  /** The path of its program, where that may be the user's own or the one that Liminal brings. */
  program: z.string().optional(),
  /** Only the agent can read its own sessions: lists show its last answer, and do not start it to ask again. */
  sessionsOnRequest: z.boolean().optional(),
  /** Its sessions can be forked. */
  forks: z.boolean().optional(),
  /** A fork has the whole conversation: only the newest turn can be forked, once it has ended. */
  forksWhole: z.boolean().optional(),
  /** How it reaches MCP servers; absent if it takes none. */
  mcpTransports: z.array(z.enum(['stdio', 'http', 'sse'])).optional(),
  /** It can change files back to how they were before a turn. */
  rewinds: z.boolean().optional(),
  /** Its conversations can go back to before a message. */
  rewindsConversation: z.boolean().optional(),
  /** Whether its sessions list their MCP servers, and change them. */
  managesMcp: z.boolean().optional(),
  /** Its sessions can have folders beside the project's. */
  takesDirectories: z.boolean().optional(),
  /** Its model can be asked a question beside the conversation. */
  answersAside: z.boolean().optional(),
  /** Its sessions list their permission rules, hooks, skills and the like. */
  tellsSetup: z.boolean().optional(),
  /** Named sets of its own settings; one can be chosen for a new session, as the config option `profile`. */
  profiles: z.array(z.string()).optional(),
  /** It can let running commands and subagents go on in the background. */
  backgrounds: z.boolean().optional(),
  /** `listGrants` has what people have allowed its tools for good, or decided about a folder's settings. */
  usesGrants: z.boolean().optional(),
  /** Recorded turns rather than a real agent. */
  demo: z.boolean().optional(),
});
export type AgentInfo = z.infer<typeof AgentInfo>;
