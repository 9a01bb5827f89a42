import type { RecordedCase } from '../record.ts';
import { commandCases } from './commands.ts';
import { conversationCases } from './conversation.ts';
import { failureCases } from './failures.ts';
import { permissionCases } from './permissions.ts';
import { sessionCases } from './sessions.ts';
import { threadTurnCases } from './thread-turns.ts';
import { toolCases } from './tools.ts';

/** Every recorded situation. */
export const codexCases: readonly RecordedCase[] = [
  ...conversationCases,
  ...commandCases,
  ...toolCases,
  ...permissionCases,
  ...failureCases,
  ...threadTurnCases,
  ...sessionCases,
];
