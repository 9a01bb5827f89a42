/** Which of Claude Code's messages besides the conversation are shown, and which are not. */
import { hookNotice } from './hooks.ts';
import type { SystemMessage } from './native.ts';
import { isOfSession } from './session-notices.ts';

/** What they say; undefined for nothing that is known. */
const told: Record<string, (message: SystemMessage) => string | undefined> = {
  hook_response: hookNotice,
  local_command_output: ({ content }) => content,
  informational: ({ content, tag }) => (isOfSession(tag) ? '' : content),
  model_refusal_fallback: ({ content }) => content,
  model_refusal_no_fallback: ({ content }) => content,
  notification: ({ text }) => text,
};

/** Bookkeeping: the content arrives in another form, or matters only to Claude Code's own screens. */
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
  'permission_denied',
  'session_state_changed',
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
  'conversation_reset',
  'keep_alive',
  'prompt_suggestion',
  'rate_limit_event',
  'tool_progress',
  'tool_use_summary',
]);

/** What to show: a sentence, nothing, or `unknown` for a message that must be kept as it is. */
export function readNotice(message: SystemMessage): { tell: string } | 'silent' | 'unknown' {
  const { subtype } = message;
  const tell = Object.hasOwn(told, subtype) ? told[subtype]?.(message) : undefined;
  if (tell !== undefined) return tell.trim() === '' ? 'silent' : { tell };
  return silentSystem.has(subtype) ? 'silent' : 'unknown';
}

export const isSilentType = (message: unknown): boolean =>
  typeof message === 'object' &&
  message !== null &&
  'type' in message &&
  typeof message.type === 'string' &&
  silentTypes.has(message.type);
