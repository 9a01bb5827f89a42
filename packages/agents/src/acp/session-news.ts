import { isRecord } from './translate/fields.ts';

/** Updates about the session as a whole rather than a turn. */
const ofSession = new Set<unknown>([
  'available_commands_update',
  'config_option_update',
  'current_mode_update',
  'session_info_update',
  'usage_update',
]);

export const isOfSession = (update: unknown): boolean =>
  isRecord(update) && ofSession.has(update['sessionUpdate']);
