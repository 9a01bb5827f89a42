import {
  ApprovalAnswerBody,
  AsideBody,
  AsideResult,
  BackgroundBody,
  ConfigBody,
  DirectoriesBody,
  DirectoriesResult,
  ForkBody,
  LoadBody,
  McpActionBody,
  McpActionResult,
  McpServersResult,
  NotifyBody,
  NotifyResult,
  QueuedBody,
  RewindBody,
  RewindResult,
  QueuePlaceBody,
  SendBody,
  SendNowResult,
  SendResult,
  SessionHandle,
  SessionSetup,
  SteerBody,
  SteerResult,
  TitleBody,
} from '../wire/http.ts';
import type { Operation } from './operation.ts';

/**
 * Refusals of every command: the session does not exist, its owner cannot be reached, or the change cannot be stored.
 */
export const refusalsOfCommands = [
  'SESSION_NOT_FOUND',
  'STALE_OWNER',
  'OWNER_UNREACHABLE',
  'LOG_WRITE_FAILED',
  'STORE_WRITE_FAILED',
] as const;

/** Refusals of operations that start an agent. */
export const refusalsOfStarts = [
  'PROJECT_DIR_NOT_FOUND',
  'PROJECT_DIR_NOT_ALLOWED',
  'UNSUPPORTED_CLI_TYPE',
  'SESSION_CREATE_FAILED',
  'PROCESS_CRASH',
  'PROTOCOL_ERROR',
  'INVALID_OPTION',
] as const;

/** Refusals of a message that is sent into a running turn. */
const refusalsOfSteering = [
  'BLOB_NOT_FOUND',
  'BLOB_TYPE_WRONG',
  'CONTENT_NOT_SUPPORTED',
  'NOT_SUPPORTED',
  'NOTHING_TO_STEER',
  'PROCESS_CRASH',
  'SHUTTING_DOWN',
] as const;

/**
 * Operations that only the session's owner carries out; every other server passes them on to the owner. The first id in
 * each path is the session's id. Every command can be repeated: if the session's owner is lost, the command is sent to
 * the next owner.
 */
export const commands = {
  loadSession: {
    method: 'POST',
    path: '/api/session/:id/load',
    summary: 'Opens an existing session, Liminal’s or the agent’s own.',
    body: LoadBody,
    answer: SessionHandle,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'NOT_SUPPORTED',
      'TURN_IN_PROGRESS',
      'SHUTTING_DOWN',
    ],
  },
  /**
   * Reports that the user is about to send a message, so that the server can already start the agent. Resolves before
   * the agent runs.
   */
  prewarm: {
    method: 'POST',
    path: '/api/session/:id/prewarm',
    summary: 'Starts a session’s agent ahead of its next message, if that saves time.',
    refusals: [...refusalsOfCommands, 'SHUTTING_DOWN'],
  },
  /**
   * Resolves when the message is bound to its turn, or is in the queue behind other messages. With a `turnId` (a UUID
   * chosen by the sender) the request can be repeated at any time: the message is sent only once.
   */
  send: {
    method: 'POST',
    path: '/api/session/:id/send',
    summary:
      'Sends a message, with images and files, which starts a turn or is queued behind another. A repeated request for the same turn sends the message once. Resumes a paused queue; the message goes first.',
    body: SendBody,
    traced: true,
    fields: ['message', 'turnId'],
    status: 202,
    answer: SendResult,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'BLOB_NOT_FOUND',
      'BLOB_TYPE_WRONG',
      'CONTENT_NOT_SUPPORTED',
      'NOT_SUPPORTED',
      'QUEUE_FULL',
      'TURN_ID_TAKEN',
      'TURN_IN_PROGRESS',
      'SHUTTING_DOWN',
    ],
  },
  /**
   * Resolves when the running turn has the message and the message is logged. With a `messageId` (a UUID chosen by the
   * sender) the request can be repeated, even after the running turn has ended: the message is sent only once.
   */
  steer: {
    method: 'POST',
    path: '/api/session/:id/steer',
    summary:
      'Sends a message, with images and files, into the running turn: the agent’s model reads it within that turn. A repeated request with the same `messageId` sends the message once.',
    body: SteerBody,
    traced: true,
    fields: ['message', 'messageId'],
    status: 202,
    answer: SteerResult,
    refusals: [...refusalsOfCommands, ...refusalsOfSteering, 'TURN_ID_TAKEN'],
  },
  editQueued: {
    method: 'PUT',
    path: '/api/session/:id/queue/:turnId',
    summary: 'Changes a queued message.',
    body: QueuedBody,
    fields: ['message'],
    refusals: [
      ...refusalsOfCommands,
      'BLOB_NOT_FOUND',
      'BLOB_TYPE_WRONG',
      'CONTENT_NOT_SUPPORTED',
      'INVALID_BODY',
      'MESSAGE_NOT_QUEUED',
      'QUEUE_FULL',
    ],
  },
  removeQueued: {
    method: 'DELETE',
    path: '/api/session/:id/queue/:turnId',
    summary: 'Removes a message from the queue.',
    refusals: [...refusalsOfCommands, 'MESSAGE_NOT_QUEUED'],
  },
  moveQueued: {
    method: 'POST',
    path: '/api/session/:id/queue/:turnId/move',
    summary: 'Moves a message in the queue.',
    body: QueuePlaceBody,
    fields: ['before'],
    refusals: [...refusalsOfCommands, 'MESSAGE_NOT_QUEUED'],
  },
  /** Cancels no turn. */
  sendQueuedNow: {
    method: 'POST',
    path: '/api/session/:id/queue/:turnId/now',
    summary:
      'Sends a queued message into the running turn, if the agent can be steered; otherwise the message becomes the next one. Resumes a paused queue.',
    answer: SendNowResult,
    refusals: [...refusalsOfCommands, 'BLOB_NOT_FOUND', 'MESSAGE_NOT_QUEUED', 'PROCESS_CRASH'],
  },
  /** Does nothing if the queue is not paused. */
  resumeQueue: {
    method: 'POST',
    path: '/api/session/:id/queue/resume',
    summary: 'Resumes a queue that was paused by a stop: its first message is sent.',
    refusals: [...refusalsOfCommands, 'SHUTTING_DOWN'],
  },
  cancel: {
    method: 'POST',
    path: '/api/session/:id/cancel',
    summary:
      'Stops the running turn and pauses the queue until it is resumed or a new message is sent; with nothing to stop it does nothing.',
    refusals: [...refusalsOfCommands, 'INTERRUPT_FAILED', 'PROCESS_CRASH'],
  },
  /**
   * Lets an outside program report that the turn is done, in case the agent has not noticed the end. Only `notify` also
   * accepts the agent's own session id in the path.
   */
  notify: {
    method: 'POST',
    path: '/api/session/:id/notify',
    summary:
      'Ends the running turn as complete, with its output so far; the session’s id may also be the agent’s own.',
    body: NotifyBody,
    answer: NotifyResult,
    refusals: [...refusalsOfCommands, 'NOTHING_TO_END'],
  },
  stopTask: {
    method: 'POST',
    path: '/api/session/:id/task/:taskId/stop',
    summary: 'Stops a background task of the agent.',
    refusals: [
      ...refusalsOfCommands,
      'TASK_NOT_FOUND',
      'NOT_SUPPORTED',
      'INTERRUPT_FAILED',
      'PROCESS_CRASH',
    ],
  },
  background: {
    method: 'POST',
    path: '/api/session/:id/background',
    summary:
      'Moves a running command or subagent to the background, so that the agent’s turn continues without waiting for it.',
    body: BackgroundBody,
    refusals: [
      ...refusalsOfCommands,
      'TASK_NOT_FOUND',
      'NOT_SUPPORTED',
      'INTERRUPT_FAILED',
      'PROCESS_CRASH',
    ],
  },
  /** Starts no agent. */
  fork: {
    method: 'POST',
    path: '/api/session/:id/fork',
    summary:
      'Starts a new session with the conversation up to the end of a turn; the original session does not change.',
    body: ForkBody,
    status: 201,
    answer: SessionHandle,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'TURN_NOT_FOUND',
      'TURN_IN_PROGRESS',
      'TURN_TAKEN_BACK',
      'TURN_NOT_STORED',
      'SESSION_ID_TAKEN',
      'NOT_SUPPORTED',
      'TOO_MANY_SESSIONS',
      'SHUTTING_DOWN',
    ],
  },
  /**
   * Starts the agent. A message in the conversation then reports the change to people. Turns that are taken back stay
   * in the log and in history, but the agent no longer knows them.
   */
  rewind: {
    method: 'POST',
    path: '/api/session/:id/rewind',
    summary:
      'Restores files, the conversation, or both to their state before a turn, or reports what would change.',
    body: RewindBody,
    fields: ['turnId'],
    answer: RewindResult,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'TURN_NOT_FOUND',
      'TURN_IN_PROGRESS',
      'TURN_TAKEN_BACK',
      'CANNOT_REWIND',
      'NO_CHECKPOINT',
      'NOT_SUPPORTED',
      'SHUTTING_DOWN',
    ],
  },
  /** Starts the agent, because only a running agent can list its MCP servers. */
  mcpServers: {
    method: 'GET',
    path: '/api/session/:id/mcp',
    summary: 'Lists the MCP servers of a session’s agent, with their states.',
    answer: McpServersResult,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /** The agent stores the change, so the change also applies in the agent's own terminal program. */
  changeMcpServer: {
    method: 'POST',
    path: '/api/session/:id/mcp/:name',
    summary:
      'Reconnects an MCP server of a session’s agent, switches it on or off, or returns the page for signing in to it.',
    body: McpActionBody,
    fields: ['action'],
    answer: McpActionResult,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /**
   * The agent's model gets the conversation and the question. Neither the question nor the answer becomes part of the
   * conversation.
   */
  aside: {
    method: 'POST',
    path: '/api/session/:id/aside',
    summary:
      'Asks a session’s model a question; neither question nor answer becomes part of the conversation.',
    body: AsideBody,
    fields: ['question'],
    answer: AsideResult,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'NOT_SUPPORTED',
      'NOT_ANSWERED',
      'SHUTTING_DOWN',
    ],
  },
  /** Starts the agent, because only a running agent can list its setup. */
  setup: {
    method: 'GET',
    path: '/api/session/:id/setup',
    summary:
      'Lists the setup of a session: version and account, permission rules, hooks, skills, plugins and memory files.',
    answer: SessionSetup,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /**
   * A running agent uses the folders from its next turn on. The folders also apply to later starts of the agent and to
   * forks of the session.
   */
  changeDirectories: {
    method: 'POST',
    path: '/api/session/:id/directories',
    summary: 'Adds or removes folders, besides the project’s, in which a session’s agent may work.',
    body: DirectoriesBody,
    answer: DirectoriesResult,
    refusals: [
      ...refusalsOfCommands,
      ...refusalsOfStarts,
      'NOT_SUPPORTED',
      'TURN_IN_PROGRESS',
      'SHUTTING_DOWN',
    ],
  },
  /** Ends the agent's processes. */
  kill: {
    method: 'POST',
    path: '/api/session/:id/kill',
    summary: 'Ends a session’s agent and closes the session; its history stays.',
    refusals: refusalsOfCommands,
  },
  answerApproval: {
    method: 'POST',
    path: '/api/session/:id/approval/:approvalId',
    summary: 'Answers a permission request; the first answer counts.',
    body: ApprovalAnswerBody,
    refusals: [
      ...refusalsOfCommands,
      'APPROVAL_NOT_FOUND',
      'APPROVAL_ALREADY_ANSWERED',
      'INVALID_OPTION',
      'NOT_SUPPORTED',
      'PROCESS_CRASH',
    ],
  },
  setConfig: {
    method: 'POST',
    path: '/api/session/:id/config',
    summary: 'Sets one of the session’s config options.',
    body: ConfigBody,
    fields: ['id', 'value'],
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED'],
  },
  rename: {
    method: 'POST',
    path: '/api/session/:id/title',
    summary: 'Renames a session.',
    body: TitleBody,
    fields: ['title'],
    refusals: refusalsOfCommands,
  },
  /**
   * Archiving changes nothing else: for example, a running turn continues. The same is true of `pin`. Both operations
   * also work for a session in an agent's own store.
   */
  archive: {
    method: 'POST',
    path: '/api/session/:id/archive',
    summary: 'Archives a session; a new message restores it.',
    refusals: refusalsOfCommands,
  },
  unarchive: {
    method: 'POST',
    path: '/api/session/:id/unarchive',
    summary: 'Restores an archived session.',
    refusals: refusalsOfCommands,
  },
  pin: {
    method: 'POST',
    path: '/api/session/:id/pin',
    summary: 'Keeps a session at the top of lists.',
    refusals: refusalsOfCommands,
  },
  unpin: {
    method: 'POST',
    path: '/api/session/:id/unpin',
    summary: 'Unpins a session.',
    refusals: refusalsOfCommands,
  },
  /**
   * The agent's own copy of the session stays in the agent's store, but is no longer listed. A repeated request has no
   * effect.
   */
  deleteSession: {
    method: 'DELETE',
    path: '/api/session/:id',
    summary:
      'Ends a session’s agent, and permanently deletes everything that Liminal stores about the session. The agent’s own store is not changed.',
    refusals: refusalsOfCommands,
  },
} as const satisfies Record<string, Operation>;

export type CommandName = keyof typeof commands;
