/** Data about sessions, projects and agents. */
import { z } from 'zod';
import { ContentBlock } from './content.ts';
import { ErrorObject } from './items.ts';
import { TraceContext } from './trace-context.ts';
import { Usage } from './usage.ts';

/**
 * The five states of a session. Each state has the same symbol in all interfaces. `waiting`: the session waits for an
 * answer from the user.
 */
export const SessionState = z.enum(['idle', 'queued', 'running', 'waiting', 'failed']);
export type SessionState = z.infer<typeof SessionState>;

/**
 * The origin of a fork: the original session, the title of the original at the time of the fork, and the last turn that
 * both sessions share.
 */
export const ForkOrigin = z.object({
  sessionId: z.string(),
  turnId: z.string(),
  title: z.string(),
});
export type ForkOrigin = z.infer<typeof ForkOrigin>;

/**
 * The file from which the session was imported: the session's id in the file, and the time of the export (ISO 8601
 * UTC).
 */
export const ImportOrigin = z.object({ sessionId: z.string(), exportedAt: z.string() });
export type ImportOrigin = z.infer<typeof ImportOrigin>;

export const SessionSummary = z.object({
  sessionId: z.string(),
  cliType: z.string(),
  projectId: z.string(),
  projectDir: z.string(),
  /** The real paths of additional folders in which the session's agent may work. */
  additionalDirectories: z.array(z.string()).optional(),
  title: z.string(),
  /** ISO 8601 UTC. */
  createdAt: z.string(),
  updatedAt: z.string(),
  state: SessionState,
  /** While the session waits, the time at which its oldest open request was made (ISO 8601 UTC). */
  waitingSince: z.string().optional(),
  /** Whether an agent process runs for the session. */
  isAlive: z.boolean(),
  /** Whether the session is open in the server (created or loaded, not killed). */
  active: z.boolean(),
  /** Whether queued messages wait until a person resumes the queue, because a person has stopped a turn. */
  queuePaused: z.boolean().optional(),
  /** Whether the session's last turn was cut off by the end of its server. */
  interrupted: z.boolean().optional(),
  /** Whether the session has neither a message nor a title. */
  empty: z.boolean().optional(),
  /** Whether a person has archived the session; a message restores it. */
  archived: z.boolean().optional(),
  /** Whether a person has pinned the session to the top of lists. */
  pinned: z.boolean().optional(),
  /** `agent`: the session exists only in the agent's own store until a client opens it. */
  source: z.enum(['liminal', 'agent']),
  /** The value of the session's setting `model`, as last reported by its agent. */
  model: z.string().optional(),
  /** The session's cost so far in US dollars, as last reported by its agent. */
  costUsd: z.number().nonnegative().optional(),
  forkedFrom: ForkOrigin.optional(),
  /** Set if the session was imported from a file: people can read it, but not continue it. */
  importedFrom: ImportOrigin.optional(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;

/** Whether an error with this code means that the turn was cut off because the turn's server ended or was lost. */
export const isInterruption = (code: string | undefined): boolean =>
  code === 'SERVER_ENDED' || code === 'OWNER_LOST';

/** The message that resumes an agent after an interruption, when a person chooses to resume. */
export const continueMessage = 'Continue.';

export const Project = z.object({
  projectId: z.string(),
  projectDir: z.string(),
  name: z.string(),
  /** The home folder of the server's user, if it contains the project's folder; clients may show it as `~`. */
  homeDir: z.string().optional(),
  /** Newest first. */
  sessions: z.array(SessionSummary),
});
export type Project = z.infer<typeof Project>;

/** A permission for Liminal's own tools in a project, made by a person's answer “always”. */
export const Grant = z.object({
  /** The rule in the form that programs use: `tool:edit`, `command:git log`, `edit:src/`. */
  rule: z.string(),
  /** The rule in words, for people: `edits in src/`. */
  title: z.string(),
  /** ISO 8601 UTC. */
  grantedAt: z.string(),
});
export type Grant = z.infer<typeof Grant>;

/** A queued message. Its state is `sending` while the message is being sent to the agent. */
export const QueuedMessage = z.object({
  turnId: z.string(),
  message: z.string(),
  blocks: z.array(ContentBlock).optional(),
  /** ISO 8601 UTC. */
  queuedAt: z.string(),
  /** The trace of the request that sent the message. */
  traceContext: TraceContext.optional(),
  state: z.enum(['queued', 'sending']),
});
export type QueuedMessage = z.infer<typeof QueuedMessage>;

/** A session's setting that people can change, in ACP's shape for session config options. */
export const ConfigOption = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** ACP's category `model`, `mode` or `thought_level`, or a category of the agent's own. */
  category: z.string().optional(),
  currentValue: z.string(),
  options: z.array(
    z.object({
      value: z.string(),
      name: z.string(),
      description: z.string().optional(),
      /** The name of the choice's group; consecutive choices of one group have the same name. */
      group: z.string().optional(),
    }),
  ),
  /**
   * Prefixes of values that are not listed but can also be set. If a person types an unlisted value without such a
   * prefix, the client puts the first prefix before the value.
   */
  takesOther: z.array(z.string()).optional(),
});
export type ConfigOption = z.infer<typeof ConfigOption>;

/** A slash command that the agent offers, without its slash. */
export const AgentCommand = z.object({
  name: z.string(),
  description: z.string(),
  hint: z.string().optional(),
  /** Further names of the command. */
  aliases: z.array(z.string()).optional(),
});
export type AgentCommand = z.infer<typeof AgentCommand>;

/** A notice for people about a session; it is not part of a turn. */
export const SessionNotice = z.object({
  level: z.enum(['info', 'warning']),
  text: z.string(),
  /** `agent`: the agent shows the same notice in all of its sessions, so a person needs to dismiss it only once. */
  about: z.enum(['agent']).optional(),
});
export type SessionNotice = z.infer<typeof SessionNotice>;

/** A usage limit of the agent's account for a span of time. */
export const UsageLimit = z.object({
  /** The limit's name for people, for example `5-hour limit`. */
  name: z.string(),
  /** The used share of the limit, in percent. */
  usedPercent: z.number().optional(),
  /** The time at which the limit's span starts again, ISO 8601 UTC. */
  resetsAt: z.string().optional(),
  /** Whether the limit is reached, so that the agent cannot be used until `resetsAt`. */
  isReached: z.boolean().optional(),
});
export type UsageLimit = z.infer<typeof UsageLimit>;

/** Work of an agent that is not part of a turn; it may outlive the turn that started it. */
export const BackgroundTask = z.object({
  taskId: z.string(),
  /** A title for people: the command, or the description of the task. */
  title: z.string(),
  kind: z.enum(['command', 'agent', 'other']),
  /** The tool call that started the task. */
  callId: z.string().optional(),
  /** ISO 8601 UTC. */
  startedAt: z.string(),
  /** A description of the current work, or the last output. */
  progress: z.string().optional(),
  /** The path of the file with all output of the task, if the agent writes such a file. */
  outputFile: z.string().optional(),
});
export type BackgroundTask = z.infer<typeof BackgroundTask>;

/** Kinds of files that an agent accepts in a message, as MIME types; `image/*` is any image. */
export const AcceptedContent = z.object({
  image: z.array(z.string()),
  audio: z.array(z.string()),
  resource: z.array(z.string()),
});
export type AcceptedContent = z.infer<typeof AcceptedContent>;

/** All data of an open session except the conversation. */
export const SessionInfo = z.object({
  session: SessionSummary,
  queue: z.array(QueuedMessage),
  configOptions: z.array(ConfigOption),
  commands: z.array(AgentCommand),
  usage: Usage.optional(),
  /** The background tasks of the agent. */
  tasks: z.array(BackgroundTask).optional(),
  /** The limits of the agent's account, if the agent reports them. */
  limits: z.array(UsageLimit).optional(),
  notices: z.array(SessionNotice).optional(),
  /** The reason why a turn is silent, for people: for example a retry because a model is overloaded. */
  activity: z.string().optional(),
  /** The attachments that the agent accepts; absent until the agent has reported them. */
  accepts: AcceptedContent.optional(),
  /** Whether the agent accepts messages in the middle of a turn; absent until the agent has reported this. */
  canSteer: z.boolean().optional(),
  /**
   * True if settings, commands, usage and limits are from the agent's last report before the server was restarted or
   * took the session over. Changing a setting starts the agent.
   */
  lastKnown: z.boolean().optional(),
});
export type SessionInfo = z.infer<typeof SessionInfo>;

/**
 * A turn's data without its items. Times are in milliseconds since the epoch; `endedAt` is absent while the turn runs.
 */
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
  /** Set for a rewind: the id of the first turn that was taken back; all later turns were taken back as well. */
  rewoundTo: z.string().optional(),
  /** Whether the turn was made outside Liminal, for example in a terminal, and found in the agent's own store. */
  madeElsewhere: z.boolean().optional(),
});
export type TurnSummary = z.infer<typeof TurnSummary>;

/** An agent type of the server; includes whether it can run on this machine. */
export const AgentInfo = z.object({
  cliType: z.string(),
  name: z.string(),
  /** One sentence for people. */
  description: z.string(),
  available: z.boolean(),
  /**
   * The reason why the agent is not available, or what the agent lacks for full use; and what the user can do about
   * this.
   */
  reason: z.string().optional(),
  version: z.string().optional(),
  /** The path of the agent's program; set if the program can be either the user's own or Liminal's copy. */
  program: z.string().optional(),
  /**
   * Whether only the agent can read its own sessions. A list then contains the agent's last answer, because no agent is
   * started for a list.
   */
  sessionsOnRequest: z.boolean().optional(),
  /** Whether the agent's sessions can be forked. */
  forks: z.boolean().optional(),
  /**
   * Whether a fork always contains the whole conversation. Then only the newest turn can be forked, and only after its
   * end.
   */
  forksWhole: z.boolean().optional(),
  /** The agent's transports to MCP servers; absent if it supports no MCP servers. */
  mcpTransports: z.array(z.enum(['stdio', 'http', 'sse'])).optional(),
  /** Whether the agent can restore files to their state before a turn. */
  rewinds: z.boolean().optional(),
  /** Whether the agent's conversations can be taken back to before a message. */
  rewindsConversation: z.boolean().optional(),
  /** Whether the agent's sessions can list and change their MCP servers. */
  managesMcp: z.boolean().optional(),
  /** Whether the agent's sessions can have additional folders besides the project folder. */
  takesDirectories: z.boolean().optional(),
  /** Whether the agent's model can answer a question outside the conversation. */
  answersAside: z.boolean().optional(),
  /** Whether the agent's sessions can list their permission rules, hooks, skills and the like. */
  tellsSetup: z.boolean().optional(),
  /** Named sets of the agent's settings; a new session can use one of them with the config option `profile`. */
  profiles: z.array(z.string()).optional(),
  /** Whether the agent can move running commands and subagents to the background. */
  backgrounds: z.boolean().optional(),
  /**
   * Whether `listGrants` also lists people's permanent decisions about the agent's own tools, or about a folder's
   * settings.
   */
  usesGrants: z.boolean().optional(),
  /** Whether the agent replays recorded turns and is not a real agent. */
  demo: z.boolean().optional(),
});
export type AgentInfo = z.infer<typeof AgentInfo>;
