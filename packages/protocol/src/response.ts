import { z } from 'zod';
import { ErrorObject, OutputItem } from './items.ts';
import { TraceContext } from './trace-context.ts';
import { Usage } from './usage.ts';

export const ResponseStatus = z.enum(['queued', 'in_progress', 'complete', 'error', 'aborted']);
export type ResponseStatus = z.infer<typeof ResponseStatus>;

/**
 * The finish reasons of server turns. In a server turn, a system message reports an event; agents do not know of such
 * turns.
 */
export const serverReasons = {
  /** Files were restored, or turns were taken back. */
  rewind: 'rewind',
  /** Background tasks have ended with the agent. */
  tasksEnded: 'tasks_ended',
  /** People were asked whether the agent may use the settings of the project folder. */
  projectSettings: 'project_settings',
} as const;

/**
 * The name of the call with which the server shows the settings of a project folder and asks people whether agents may
 * use them.
 */
export const projectSettingsCall = 'use_project_settings';

/** Returns whether the turn is a server turn. */
export function isServerTurn({
  finishReason,
}: {
  finishReason?: string | null | undefined;
}): boolean {
  const reasons: readonly unknown[] = Object.values(serverReasons);
  return reasons.includes(finishReason);
}

/**
 * One run after folding: the form in which history is stored and sent (seed 001). Times are in milliseconds since the
 * epoch.
 */
export const Response = z.object({
  /** The run's id. */
  id: z.string().min(1),
  turnId: z.string().min(1),
  sessionId: z.string().min(1),
  agentId: z.string().optional(),
  modelId: z.string(),
  providerId: z.string(),
  trigger: z.enum(['user', 'agent']).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  status: ResponseStatus,
  outputItems: z.array(OutputItem),
  usage: Usage.optional(),
  finishReason: z.string().nullable(),
  error: ErrorObject.optional(),
  /**
   * Set for a rewind: the id of the first turn that was taken back; all later turns were taken back as well. The agent
   * continues from the turn before it. `takenBack` returns all of these turns.
   */
  rewoundTo: z.string().optional(),
  /** Whether the run was made outside Liminal, for example in a terminal, and found in the agent's own store. */
  madeElsewhere: z.boolean().optional(),
  /** The trace of the run's events, with the id of the turn's span. Absent if the run was made outside Liminal. */
  traceContext: TraceContext.optional(),
  /** The span of the request that started the turn, if the request had a trace. */
  parentSpanId: z.string().optional(),
  /** `seq` of the last event folded in; -1 before the first. */
  lastSeq: z.number().int(),
});
export type Response = z.infer<typeof Response>;
