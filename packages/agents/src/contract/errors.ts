import { LiminalError } from '@liminal/protocol';

/** The error codes of seed 000, and more that real agents need. */
export type ProviderErrorCode =
  | 'SESSION_CREATE_FAILED'
  | 'SESSION_NOT_FOUND'
  | 'PROCESS_CRASH'
  | 'INTERRUPT_FAILED'
  | 'PROTOCOL_ERROR'
  | 'UNSUPPORTED_CLI_TYPE'
  | 'TURN_IN_PROGRESS'
  | 'TURN_NOT_STORED'
  | 'NO_CHECKPOINT'
  | 'CANNOT_REWIND'
  | 'APPROVAL_NOT_FOUND'
  | 'TASK_NOT_FOUND'
  | 'NOT_ANSWERED'
  | 'INVALID_OPTION'
  | 'CONTENT_NOT_SUPPORTED'
  | 'NOT_SUPPORTED'
  | 'NOTHING_TO_STEER';

/** An error of a provider. The message says what is wrong and what to do. */
export class ProviderError extends LiminalError {
  declare readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** Another program has the session open. The other program may close the session soon, so a message can wait. */
export class SessionInUseError extends ProviderError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('SESSION_CREATE_FAILED', message, options);
  }
}

/**
 * @param agent - The agent's display name.
 * @param why - A sentence for people, in place of the sentence that the agent has not stored the turn.
 * @param other - The turn after which a fork is possible.
 */
export function turnNotStored(
  agent: string,
  why = `${agent} has not stored this turn, so no fork can continue from it.`,
  other = 'another turn',
): ProviderError {
  const message = `${why} Fork after ${other}.`;
  return new ProviderError('TURN_NOT_STORED', message);
}

/** @param why - A sentence that is shown to people. */
export function cannotRewind(why: string, cause?: unknown): ProviderError {
  const message = `The conversation cannot be rewound to before this message. ${why}`;
  return new ProviderError('CANNOT_REWIND', message, { cause });
}

/** A message was sent into the running turn, but no turn runs, or the turn does not accept it. */
export function nothingToSteer(why = 'No turn is running.', cause?: unknown): ProviderError {
  const message = `${why} Send the text as a new message.`;
  return new ProviderError('NOTHING_TO_STEER', message, { cause });
}

/** The agent did not answer a side question. */
export function notAnswered(why: string, cause?: unknown): ProviderError {
  return new ProviderError('NOT_ANSWERED', `There is no answer. ${why}`, { cause });
}

/** For people: the rest of a sentence about an agent whose sessions lack a method. */
const lacks = {
  steer: 'accepts no messages during a turn. Send a message for a new turn.',
  answerApproval: 'does not ask for permissions.',
  setConfigOption: 'has no settings to change.',
  setDirectories: 'works in the project folder only: it takes no additional folders.',
  rename: 'does not support session titles.',
  background: 'cannot send calls to the background. Claude Code can.',
  stopTask: 'has no background tasks.',
  rewindFiles: 'does not keep earlier states of files. Claude Code does.',
  rewindConversation: 'cannot take turns back. Write what should be otherwise in a message.',
  aside: 'cannot answer questions outside its conversation. Ask in a message.',
  setup: 'does not report the setup of its sessions. Claude Code and Codex do.',
  listMcpServers: 'does not report its MCP servers. Claude Code and Codex do.',
  changeMcpServer: 'does not report its MCP servers. Claude Code and Codex do.',
  fork: 'cannot fork its sessions. Start a new session.',
};
/** The optional methods of an agent's session, and `fork` of its driver. */
export type OptionalMethod = keyof typeof lacks;

/** @param agent - The agent's display name. */
export function notSupported(agent: string, method: OptionalMethod): ProviderError {
  return new ProviderError('NOT_SUPPORTED', `${agent} ${lacks[method]}`);
}

export function taskNotFound(): ProviderError {
  return new ProviderError('TASK_NOT_FOUND', 'No such background task is running.');
}
