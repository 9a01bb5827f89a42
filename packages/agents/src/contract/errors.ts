/** All errors of the agents, except those of models and tools, which a turn reports. */
import { errorTable, LiminalError } from '@liminal/protocol';

const cannotRewind = (why: string): string =>
  `The conversation cannot be rewound to before this message. ${why}`;
const forkElsewhere = (why: string): string => `${why} Fork after another turn.`;
const noAnswer = (why: string): string => `There is no answer. ${why}`;
const noMcpServers = (agent: string): string =>
  `${agent} does not report its MCP servers. Claude Code and Codex do.`;
const sendAsNew = (why: string): string => `${why} Send the text as a new message.`;
const clearedForPlan =
  'Codex no longer has this turn: the context was cleared when a plan was implemented.';

/** The parameter `agent` is the agent's display name, or its type if the name is not known. */
const table = {
  APPROVAL_NOT_FOUND: {
    over: () => 'This permission request is over: it was answered, or its turn has ended.',
  },
  CANNOT_REWIND: {
    afterPlan: () => cannotRewind(clearedForPlan),
    summarised: () =>
      cannotRewind(
        'Claude Code no longer has this message in its context: it has summarised or cleared the conversation.',
      ),
    unsupported: () => cannotRewind('This version of the SDK does not support rewinding.'),
    notRewound: () => cannotRewind('Claude Code did not rewind the conversation.'),
    unreadable: () => cannotRewind('Claude Code’s answer cannot be read.'),
    reported: (agent: string, why: string) => cannotRewind(`${agent} reports: ${why}`),
  },
  CONTENT_NOT_SUPPORTED: {
    because: (why: string) => why,
  },
  INTERRUPT_FAILED: {
    turn: (agent: string, why: string) => `${agent} did not stop. ${why}`,
    task: (agent: string, why: string) => `${agent} did not stop the background task. ${why}`,
    call: (agent: string, why: string) =>
      `${agent} did not send the call to the background. ${why}`,
  },
  INVALID_OPTION: {
    because: (why: string) => why,
    answer: (optionId: string, possible: string) =>
      `“${optionId}” is not an answer to this request. Possible answers: ${possible}.`,
    argument: (name: string, editable: readonly string[]) =>
      `“${name}” cannot be changed, or its new value is not a string. Arguments that can be changed: ${editable.join(', ')}.`,
    note: (option: string) =>
      `The agent takes no note with “${option}”. Answer without a note, and send the note as a message.`,
    option: (agent: string, id: string, options: string) =>
      `${agent} has no option “${id}”. Options: ${options}.`,
    value: (id: string, value: string, values: string) =>
      `“${value}” is not a value of “${id}”. Values: ${values}.`,
    notSet: (agent: string, id: string, value: string, why: string) =>
      `${agent} did not set “${id}” to “${value}”. ${why}`,
    mcpServer: (agent: string, name: string, why: string) =>
      `${agent} could not change the MCP server “${name}”. ${why}`,
    noProfiles: (name: string) => `Codex has no profile “${name}”. There are none.`,
    profile: (name: string, known: readonly string[]) =>
      `Codex has no profile “${name}”. Its profiles are: ${known.join(', ')}.`,
    profileUnreadable: (name: string, why: string) =>
      `The profile “${name}” of Codex cannot be read. ${why}`,
    modelSetting: (id: string) => `Unknown setting “${id}”. Known: model, mode, effort.`,
    modelValue: (id: string, value: string, known: readonly string[]) =>
      `Unknown ${id} “${value}”. Known: ${known.join(', ')}.`,
    model: (value: string, why: string) => `There is no model “${value}”. ${why}`,
    demo: (id: string, value: string, paces: string) =>
      `The demo has no setting ${id} = "${value}". It has pace: ${paces}.`,
  },
  NOTHING_TO_STEER: {
    noTurn: () => sendAsNew('No turn is running.'),
    stopping: () => sendAsNew('The turn is being stopped.'),
    duringCommand: () => sendAsNew('A command is running, without a model.'),
    isCommand: () => sendAsNew('Commands run only between turns.'),
    rejected: (agent: string, why: string) => sendAsNew(`${agent} rejected the message: ${why}`),
  },
  NOT_ANSWERED: {
    because: noAnswer,
    noConversation: () => noAnswer('Send a message first: there is no conversation yet.'),
    silent: (agent: string) => noAnswer(`${agent} did not answer.`),
    unsupported: () => noAnswer('This version of Claude Code does not support side questions.'),
    wantedTool: () =>
      noAnswer('The model wanted to use a tool, which a side question does not allow.'),
  },
  /** By the name of the method that the agent's session lacks, or its driver for `fork`. */
  NOT_SUPPORTED: {
    answerApproval: (agent: string) => `${agent} does not ask for permissions.`,
    aside: (agent: string) =>
      `${agent} cannot answer questions outside its conversation. Ask in a message.`,
    background: (agent: string) => `${agent} cannot send calls to the background. Claude Code can.`,
    setDirectories: (agent: string) =>
      `${agent} works in the project folder only: it takes no additional folders.`,
    fork: (agent: string) => `${agent} cannot fork its sessions. Start a new session.`,
    changeMcpServer: noMcpServers,
    listMcpServers: noMcpServers,
    rename: (agent: string) => `${agent} does not support session titles.`,
    rewindConversation: (agent: string) =>
      `${agent} cannot take turns back. Write what should be otherwise in a message.`,
    rewindFiles: (agent: string) =>
      `${agent} does not keep earlier states of files. Claude Code does.`,
    setConfigOption: (agent: string) => `${agent} has no settings to change.`,
    setup: (agent: string) =>
      `${agent} does not report the setup of its sessions. Claude Code and Codex do.`,
    steer: (agent: string) =>
      `${agent} accepts no messages during a turn. Send a message for a new turn.`,
    stopTask: (agent: string) => `${agent} has no background tasks.`,
  },
  NO_CHECKPOINT: {
    because: (why: string) => `Claude Code cannot restore the files from before this turn. ${why}`,
  },
  PROCESS_CRASH: {
    because: (why: string) => why,
    ended: (agent: string, why: string) => `${agent} has ended. ${why}`,
    notRunning: (agent: string) => `${agent} is not running.`,
    sessionEnded: () => 'The session has been ended.',
  },
  PROTOCOL_ERROR: {
    notForked: (agent: string, why: string) => `${agent} did not fork the session. ${why}`,
    notListed: (agent: string, why: string) => `${agent} did not list its stored sessions. ${why}`,
  },
  SESSION_CREATE_FAILED: {
    because: (why: string) => why,
    endedBefore: (agent: string) =>
      `The session was ended before ${agent} had started. Start it again.`,
    exists: (sessionId: string) => `The session ${sessionId} already exists.`,
    folderMissing: (projectDir: string) => `The project folder ${projectDir} does not exist.`,
    notFolder: (projectDir: string) => `The project folder ${projectDir} is not a folder.`,
    noModel: (title: string, why: string) => `No model of “${title}” is available. ${why}`,
    notForked: (agent: string, why: string) => `${agent} did not fork the session. ${why}`,
    notStarted: (agent: string, why: string) => `${agent} did not start. ${why}`,
    notStartedIn: (agent: string, projectDir: string, why: string) =>
      `${agent} did not start in ${projectDir}. ${why}`,
  },
  SESSION_NOT_FOUND: {
    because: (why: string) => why,
    lost: (agent: string) => `${agent} no longer has this session.`,
    refused: (agent: string, sessionId: string, why: string) =>
      `${agent} has no session ${sessionId}. ${why}`,
    unknown: (agent: string, sessionId: string) => `${agent} has no session ${sessionId}.`,
    notStored: (agent: string) => `${agent} does not have this session.`,
  },
  TASK_NOT_FOUND: {
    call: () => 'No running call can be sent to the background.',
    task: () => 'No such background task is running.',
  },
  TURN_IN_PROGRESS: {
    working: (agent: string) =>
      `${agent} is still working on a message. Wait for the end of the turn, or stop it.`,
  },
  TURN_NOT_STORED: {
    notStored: (agent: string) =>
      forkElsewhere(`${agent} has not stored this turn, so no fork can continue from it.`),
    cleared: (agent: string) =>
      forkElsewhere(
        `This turn is not in ${agent}’s present conversation: the conversation was cleared with /clear.`,
      ),
    clearedForPlan: () => forkElsewhere(clearedForPlan),
    notNewest: (agent: string) =>
      `${agent} forks only its whole conversation. Fork after its newest turn.`,
  },
  UNSUPPORTED_CLI_TYPE: {
    removed: (cliType: string) =>
      `This session was made with the agent "${cliType}", which is no longer in the configuration. The conversation can be read; to continue it, add the agent again.`,
    unknown: (cliType: string, known: string) =>
      `Unknown agent type "${cliType}". Known: ${known}.`,
  },
};

/** The error codes of seed 000, and more that real agents need. */
export type ProviderErrorCode = keyof typeof table;

/** An error of a provider. The message says what is wrong and what to do. */
export class ProviderError extends LiminalError {
  declare readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

export const errors = errorTable(table, ProviderError);

/** The optional methods of an agent's session, and `fork` of its driver. */
export type OptionalMethod = keyof typeof table.NOT_SUPPORTED;

/** Another program has the session open. The other program may close the session soon, so a message can wait. */
export class SessionInUseError extends ProviderError {
  constructor(message: string, options?: ErrorOptions) {
    super('SESSION_CREATE_FAILED', message, options);
  }
}

/**
 * Returns the error for a session that another program with Codex has open. Codex 0.169 frees a thread 90 s after the
 * last terminal that used it has ended, or later if work in the thread is still running.
 */
export const inUseByCodex = (options: ErrorOptions): SessionInUseError =>
  new SessionInUseError(
    'Another program has this session open: a terminal with Codex, or Codex’ background service, which keeps a session for about 90 seconds after its terminal has ended. End the terminal, or wait.',
    options,
  );
