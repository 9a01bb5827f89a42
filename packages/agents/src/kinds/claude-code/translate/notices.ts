/** Decides which of Claude Code's messages that are not part of the conversation are shown. */
import { z } from 'zod';
import { hookNotice } from './hooks.ts';
import type { SystemMessage } from './native.ts';
import { isAboutSession } from './session-notices.ts';

/**
 * Functions by a message's subtype. Each function returns the notice for a message, or undefined if the message lacks
 * the expected text.
 */
const texts: Record<string, (message: SystemMessage) => string | undefined> = {
  hook_response: hookNotice,
  local_command_output: ({ content }) => content,
  informational: ({ content, tag }) => (isAboutSession(tag) ? '' : content),
  model_refusal_fallback: ({ content }) => content,
  model_refusal_no_fallback: ({ content }) => content,
  // Remove the reference to a key of Claude Code's terminal.
  notification: ({ text }) => text?.replace(/ · ctrl\+o to see$/, ''),
  permission_denied: deniedNotice,
  memory_recall: recallNotice,
  mirror_error: ({ error }) =>
    `Claude Code could not copy the session to its second store. ${String(error)}`,
  session_writes_lost: lostNotice,
  worker_shutting_down: ({ reason }) =>
    `Claude Code is being stopped from outside (${spaced(reason)}). Running work may be cut off.`,
  plugin_install: pluginNotice,
};

const spaced = (reason: unknown): string => String(reason).replaceAll('_', ' ');

const Denied = z.looseObject({
  tool_name: z.string(),
  decision_reason: z.string().optional(),
  message: z.string().catch(''),
});

/**
 * Returns a notice about a call that Claude Code refused without asking people. The reason in the call's result may be
 * written only for the model.
 */
function deniedNotice(message: SystemMessage): string | undefined {
  const denied = Denied.safeParse(message).data;
  if (denied === undefined) return undefined;
  const { tool_name: tool, decision_reason: reason, message: words } = denied;
  return `Claude Code refused a call of ${tool} without asking. ${reason ?? words}`.trim();
}

const Install = z.looseObject({
  status: z.string(),
  name: z.string().catch(''),
  error: z.string().catch(''),
});

function pluginNotice(message: SystemMessage): string | undefined {
  const installation = Install.safeParse(message).data;
  if (installation === undefined) return undefined;
  const { status, name, error } = installation;
  return status === 'failed' ? `The plugin ${name} was not installed. ${error}`.trim() : '';
}

const Recalled = z.looseObject({
  memories: z.array(z.looseObject({ path: z.string(), content: z.string().optional() })),
});

function recallNotice(message: SystemMessage): string | undefined {
  const memories = Recalled.safeParse(message).data?.memories;
  if (memories === undefined) return undefined;
  // A memory that Claude Code has put together from several files has no file: its path is a folder in angle brackets.
  const lines = memories.map(({ path, content }) =>
    path.startsWith('<') ? (content ?? '') : `- ${path}`,
  );
  return lines.length === 0 ? '' : `The model was given memories:\n\n${lines.join('\n')}`;
}

const Lost = z.looseObject({ error_code: z.string(), lost: z.array(z.string()).catch([]) });
const lostReasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk was full',
  EDQUOT: 'the disk quota was used up',
};

function lostNotice(message: SystemMessage): string | undefined {
  const loss = Lost.safeParse(message).data;
  if (loss === undefined) return undefined;
  const { error_code: code, lost } = loss;
  const reason = (Object.hasOwn(lostReasons, code) ? lostReasons[code] : undefined) ?? code;
  const isTranscript = lost.length === 0 || lost.includes('transcript');
  const what = isTranscript ? 'a part of this conversation' : 'changes of its settings';
  const later = isTranscript ? ' A later start of the session may lack that part.' : '';
  return `Claude Code could not store ${what}: ${reason}.${later} Make room on the disk.`;
}

/**
 * Subtypes of messages that are about the session, so that their notices wait for the next turn if no turn is running.
 */
const lasting = new Set([
  'hook_response',
  'mirror_error',
  'session_writes_lost',
  'worker_shutting_down',
]);
export const isLasting = ({ subtype }: SystemMessage): boolean => lasting.has(subtype);

const forgotten =
  'A new conversation begins: the model does not know the earlier turns. Files are unchanged.';

/** Returns the notice for a message whose type is not `system`. */
export const readOtherNotice = (message: unknown): string | undefined =>
  typeof message === 'object' &&
  message !== null &&
  'type' in message &&
  message.type === 'conversation_reset'
    ? forgotten
    : undefined;

/**
 * Subtypes of messages that are not shown: their content also arrives in another form, or is only for Claude Code's own
 * screens.
 */
const silentSystem = new Set([
  'api_retry',
  'background_tasks_changed',
  'commands_changed',
  'elicitation_complete',
  'files_persisted',
  'hook_progress',
  'hook_response',
  'hook_started',
  'init',
  'session_state_changed',
  'session_title_changed',
  'status',
  'task_notification',
  'task_progress',
  'task_started',
  'task_updated',
  'thinking_tokens',
]);

const silentTypes = new Set([
  'active_goal',
  'auth_status',
  'keep_alive',
  'prompt_suggestion',
  'rate_limit_event',
  'tool_progress',
  'tool_use_summary',
]);

/** Returns the sentence to show, `silent` to show nothing, or `unknown` for a message that must be kept unchanged. */
export function readNotice(message: SystemMessage): { show: string } | 'silent' | 'unknown' {
  const { subtype } = message;
  const show = Object.hasOwn(texts, subtype) ? texts[subtype]?.(message) : undefined;
  if (show !== undefined) return show.trim() === '' ? 'silent' : { show };
  return silentSystem.has(subtype) ? 'silent' : 'unknown';
}

export const isSilentType = (message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'type' in message &&
  typeof message.type === 'string' &&
  silentTypes.has(message.type);
