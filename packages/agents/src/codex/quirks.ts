import type { AcpQuirks } from '../acp/index.ts';

/** What codex-acp 0.16 does otherwise than the protocol has it. */
export const codexQuirks: AcpQuirks = {
  thoughtsInParts: true,
  repeatsAfterRetry: true,
  fencesOutput: true,
  losesCompletions: true,
  wholeUserMessages: true,
  failureMeta: { path: ['codex', 'threadStatus'], value: 'systemError' },
};
