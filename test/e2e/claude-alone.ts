import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const sdk = '@anthropic-ai/claude-agent-sdk';

/** Runs Claude Code without Liminal, as a user does in a terminal. Resolves with the output of Claude Code. */
export async function runClaudeAlone(
  prompt: string,
  options: { folder: string; env: Record<string, string> },
): Promise<string> {
  const program = require.resolve(`${sdk}-${process.platform}-${process.arch}/claude`);
  const child = spawn(program, ['--print', prompt], {
    cwd: options.folder,
    env: options.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`Claude Code ended with ${String(code)}: ${printed}`);
  return printed;
}
