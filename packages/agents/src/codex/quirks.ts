import type { AcpQuirks } from '../acp/index.ts';

/** How codex-acp 0.16 deviates from the protocol. */
export const codexQuirks: AcpQuirks = {
  fencesOutput: true,
  losesCompletions: true,
  usageEndsMessage: true,
  failsBeforeTurnEnds: true,
  leavesCommandsRunning: true,
  notArguments: [
    'call_id',
    'process_id',
    'turn_id',
    'started_at_ms',
    'source',
    'parsed_cmd',
    'auto_approved',
    'available_decisions',
    'proposed_execpolicy_amendment',
    'proposed_network_policy_amendments',
  ],
  failureMeta: { path: ['codex', 'threadStatus'], value: 'systemError' },
  replay: {
    tellsWhole: true,
    tools: { exec_command: { kind: 'execute', title: 'cmd' } },
    plan: { tool: 'update_plan', entries: 'plan', content: 'step' },
    outputHead:
      /^(?=(?:.*\n){0,2}Wall time)(?:Chunk ID.*\n)?(?:Wall time.*\n)?(?:(?:Exit code:|Process exited with code) (?<exitCode>\d+)\n)?(?:(?:Wall time|Process running|Original token count|Total output lines).*\n)*Output:\n/,
  },
};
