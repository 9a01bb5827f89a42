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

/** @param agent - The agent's display name. */
export function noDirectories(agent: string): ProviderError {
  const message = `${agent} works in the project folder only: it takes no additional folders.`;
  return new ProviderError('NOT_SUPPORTED', message);
}

export function taskNotFound(): ProviderError {
  return new ProviderError('TASK_NOT_FOUND', 'No such background task is running.');
}
