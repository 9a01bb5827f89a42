/** Starts scripted ACP agents for tests. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AcpAgentControl } from './control.ts';
import type { AgentScript } from './script.ts';

// The cache makes the starts of scripted agents faster, because tests start many of these agents.
const compileCache = fileURLToPath(
  new URL('../../../../node_modules/.cache/scripted-agent', import.meta.url),
);

/** A scripted agent: the command that starts one of its processes, and the control of all its processes. */
export interface AcpAgent {
  command: string;
  args: string[];
  env: Record<string, string>;
  control: AcpAgentControl;
}

/**
 * Writes a script to a folder, for any number of processes. The processes share their stored state (sessions,
 * authentication), as the processes of an installed agent do. The test must close `control` at the end. Throws a
 * `ZodError` for an invalid script.
 */
export async function acpAgent(script: AgentScript = {}): Promise<AcpAgent> {
  const folder = await mkdtemp(join(tmpdir(), 'liminal-acp-'));
  const control = await AcpAgentControl.listen(folder, script);
  const main = fileURLToPath(new URL('./program/main.ts', import.meta.url));
  return {
    command: process.execPath,
    args: [main, folder],
    env: { NODE_COMPILE_CACHE: compileCache },
    control,
  };
}
