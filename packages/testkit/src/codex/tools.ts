import { customCall, functionCall, type CallItem } from '../responses-api/reply.ts';

type CallOptions = Parameters<typeof functionCall>[2];

interface CommandOptions {
  /** How long the model waits before it reads the output, in ms. Codex waits at least 250 ms. */
  yieldMs?: number;
  /** Why the command must run outside the sandbox: with the approval policy `on-request`, Codex asks for permission. */
  escalate?: string;
  /** Whether the command runs in a terminal; only then can the model write to its input. */
  tty?: boolean;
}

/** A command in a shell. */
export const execCommand = (
  cmd: string,
  { yieldMs, escalate, tty, ...options }: CallOptions & CommandOptions = {},
): CallItem =>
  functionCall(
    'exec_command',
    {
      cmd,
      ...(yieldMs === undefined ? {} : { yield_time_ms: yieldMs }),
      ...(tty === undefined ? {} : { tty }),
      ...(escalate === undefined
        ? {}
        : { sandbox_permissions: 'require_escalated', justification: escalate }),
    },
    options,
  );

/** Writes to a running command; empty input only waits for more of its output. */
export const writeStdin = (session: number, chars: string): CallItem =>
  functionCall('write_stdin', { session_id: session, chars, yield_time_ms: 3000 });

/** The plan, as steps with `pending`, `in_progress` or `completed`. */
export const updatePlan = (steps: [step: string, status: string][]): CallItem =>
  functionCall('update_plan', { plan: steps.map(([step, status]) => ({ step, status })) });

/** A patch in Codex's own format; `hunks` are the lines between its first and last line. */
export const applyPatch = (hunks: string[], options: CallOptions = {}): CallItem =>
  customCall('apply_patch', ['*** Begin Patch', ...hunks, '*** End Patch'].join('\n'), options);

export const viewImage = (path: string): CallItem => functionCall('view_image', { path });
