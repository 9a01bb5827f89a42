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

/** For every command: the session does not exist, its owner cannot be reached, or the change cannot be stored. */
export const refusalsOfCommands = [
  'SESSION_NOT_FOUND',
  'STALE_OWNER',
  'OWNER_UNREACHABLE',
  'LOG_WRITE_FAILED',
  'STORE_WRITE_FAILED',
] as const;

/** For operations that start an agent. */
export const refusalsOfStarts = [
  'PROJECT_DIR_NOT_FOUND',
  'PROJECT_DIR_NOT_ALLOWED',
  'UNSUPPORTED_CLI_TYPE',
  'SESSION_CREATE_FAILED',
  'PROCESS_CRASH',
  'PROTOCOL_ERROR',
  'INVALID_OPTION',
] as const;

/** For saying something in the middle of a turn. */
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
 * Operations that the session's owner carries out, on this server or another. The first id in each path is the
 * session's. Every command can be repeated: if an owner is lost, the next one is asked.
 */
export const commands = {
  loadSession: {
    method: 'POST',
    path: '/api/session/:id/load',
    summary: 'Opens an existing session, ours or the agent’s own.',
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
  /** The user is about to send a message: the agent may start. Resolves before it runs. */
  prewarm: {
    method: 'POST',
    path: '/api/session/:id/prewarm',
    summary: 'Starts a session’s agent ahead of its next message, where that saves time.',
    refusals: [...refusalsOfCommands, 'SHUTTING_DOWN'],
  },
  /**
   * Resolves when the message is bound to its turn, or queued behind another. With a `turnId` (a UUID that the sender
   * chose) it can be repeated at any time: the message is sent once.
   */
  send: {
    method: 'POST',
    path: '/api/session/:id/send',
    summary:
      'Sends a message, with images and files; it is bound to its turn, or queued behind another. Asked again for the same turn, it is sent once. Resumes a paused queue, before whose messages it goes.',
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
   * Resolves when the running turn has the message and the log says so. With a `messageId` (a UUID that the sender
   * chose) it can be repeated, also after that turn: it is said once.
   */
  steer: {
    method: 'POST',
    path: '/api/session/:id/steer',
    summary:
      'Says something to an agent that is at work, with images and files: its model reads it within the turn that runs. Asked again for the same `messageId`, it is said once.',
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
    summary: 'Changes a message that waits in the queue.',
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
    summary: 'Takes a message out of the queue.',
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
  /** Cancels nothing. */
  sendQueuedNow: {
    method: 'POST',
    path: '/api/session/:id/queue/:turnId/now',
    summary:
      'Says a message of the queue in the turn that runs, if the agent can be steered; else it becomes the next one. Resumes a paused queue.',
    answer: SendNowResult,
    refusals: [...refusalsOfCommands, 'BLOB_NOT_FOUND', 'MESSAGE_NOT_QUEUED', 'PROCESS_CRASH'],
  },
  /** Does nothing to a queue that is not paused. */
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
  /** From outside: its agent may not have seen that it is done. Of all commands, this one takes the agent's own id, too. */
  notify: {
    method: 'POST',
    path: '/api/session/:id/notify',
    summary:
      'Ends the running turn as complete, with what was said so far; the session may be named by its agent’s own id.',
    body: NotifyBody,
    answer: NotifyResult,
    refusals: [...refusalsOfCommands, 'NOTHING_TO_END'],
  },
  stopTask: {
    method: 'POST',
    path: '/api/session/:id/task/:taskId/stop',
    summary: 'Stops what the agent has running beside its turns.',
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
      'Lets a running command or subagent go on in the background, so that the agent’s turn continues without it.',
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
      'Begins a new session with the conversation up to the end of a turn; the session itself stays as it is.',
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
   * Starts the agent. A message in the conversation reports the change. Turns that are taken back stay in the log
   * and in history, and the agent no longer knows them.
   */
  rewind: {
    method: 'POST',
    path: '/api/session/:id/rewind',
    summary:
      'Takes files, the conversation, or both back to how they were before a turn, or says what would be.',
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
  /** Starts the agent: only one that runs knows. */
  mcpServers: {
    method: 'GET',
    path: '/api/session/:id/mcp',
    summary: 'Lists the MCP servers of a session’s agent, with their states.',
    answer: McpServersResult,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /** The agent keeps what is switched, as its own terminal does. */
  changeMcpServer: {
    method: 'POST',
    path: '/api/session/:id/mcp/:name',
    summary:
      'Connects an MCP server of a session’s agent anew, switches it on or off, or gives the page on which to sign in to it.',
    body: McpActionBody,
    fields: ['action'],
    answer: McpActionResult,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /** The agent's model is asked with the conversation; neither question nor answer becomes part of it. */
  aside: {
    method: 'POST',
    path: '/api/session/:id/aside',
    summary:
      'Asks a session’s model a question beside the conversation, which knows neither the question nor the answer.',
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
  /** Starts the agent: only one that runs knows. */
  setup: {
    method: 'GET',
    path: '/api/session/:id/setup',
    summary:
      'Lists what holds in a session: version and account, permission rules, hooks, skills, plugins and memory files.',
    answer: SessionSetup,
    refusals: [...refusalsOfCommands, ...refusalsOfStarts, 'NOT_SUPPORTED', 'SHUTTING_DOWN'],
  },
  /** The agent that runs works with them from its next turn on. They hold for later starts, and for forks. */
  changeDirectories: {
    method: 'POST',
    path: '/api/session/:id/directories',
    summary:
      'Adds folders beside the project’s, in which a session’s agent may work, or takes some away.',
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
  /** Changes nothing else: what runs goes on. The same for `pin`; both also for a session of an agent's own store. */
  archive: {
    method: 'POST',
    path: '/api/session/:id/archive',
    summary: 'Puts a session away; a message brings it back.',
    refusals: refusalsOfCommands,
  },
  unarchive: {
    method: 'POST',
    path: '/api/session/:id/unarchive',
    summary: 'Brings an archived session back.',
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
    summary: 'Lets a session stand in lists by its time again.',
    refusals: refusalsOfCommands,
  },
  /** What the agent keeps in its own store stays there, and is not listed any more. Asked again, it does nothing. */
  deleteSession: {
    method: 'DELETE',
    path: '/api/session/:id',
    summary:
      'Ends a session’s agent, and deletes for good all that Liminal holds of it. The agent’s own store is not touched.',
    refusals: refusalsOfCommands,
  },
} as const satisfies Record<string, Operation>;

export type CommandName = keyof typeof commands;
