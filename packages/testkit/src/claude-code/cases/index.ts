import type { RecordedCase } from '../record.ts';
import { agentCases } from './agents.ts';
import { conversationCases } from './conversation.ts';
import { failureCases } from './failures.ts';
import { toolCases } from './tools.ts';

/** Every recorded situation. */
export const claudeCases: readonly RecordedCase[] = [
  ...conversationCases,
  ...toolCases,
  ...failureCases,
  ...agentCases,
];
