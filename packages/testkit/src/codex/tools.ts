import { customCall, functionCall, type CallItem } from '../responses-api/reply.ts';

type CallOptions = Parameters<typeof functionCall>[2];

interface CommandOptions {
  /** How long the model waits before it reads the output, in ms. Codex waits for at least 250 ms. */
  yieldMs?: number;
  /**
   * The reason why the command must run outside the sandbox. With the approval policy `on-request`, Codex then asks for
   * permission.
   */
  escalate?: string;
  /** Whether the command runs in a terminal. Only then can the model write to the command's input. */
  tty?: boolean;
}

/** Makes a call that runs a command in a shell. */
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

/** Makes a call that writes to a running command. Empty input only waits for more output of the command. */
export const writeStdin = (session: number, chars: string): CallItem =>
  functionCall('write_stdin', { session_id: session, chars, yield_time_ms: 3000 });

/** Makes a call that sets the plan: steps with the status `pending`, `in_progress` or `completed`. */
export const updatePlan = (steps: [step: string, status: string][]): CallItem =>
  functionCall('update_plan', { plan: steps.map(([step, status]) => ({ step, status })) });

/** Makes a call with a patch in Codex's own format. `hunks` are the lines between the patch's first and last line. */
export const applyPatch = (hunks: string[], options: CallOptions = {}): CallItem =>
  customCall('apply_patch', ['*** Begin Patch', ...hunks, '*** End Patch'].join('\n'), options);

export const viewImage = (path: string): CallItem => functionCall('view_image', { path });
