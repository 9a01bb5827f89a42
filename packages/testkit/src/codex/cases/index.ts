import type { RecordedCase } from '../record.ts';
import { commandCases } from './commands.ts';
import { conversationCases } from './conversation.ts';

/** Every situation of which there is a recording. */
export const codexCases: readonly RecordedCase[] = [...conversationCases, ...commandCases];
