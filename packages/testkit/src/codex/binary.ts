import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * The real `codex`: this platform's program itself, not the script that starts it. Codex is an optional dependency;
 * throws if Codex is not installed.
 */
export function codexBinary(): string {
  const codex = createRequire(require.resolve('@openai/codex/package.json'));
  const platform = codex.resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`);
  const vendor = join(dirname(platform), 'vendor');
  const [target = ''] = readdirSync(vendor);
  return join(vendor, target, 'bin', 'codex');
}

/**
 * The real `codex-acp`, which speaks ACP and runs `codexBinary()`: the command and environment for a configured agent.
 */
export function codexAcpCommand(): {
  command: string;
  args: string[];
  env: Record<string, string>;
} {
  const script = require.resolve('@agentclientprotocol/codex-acp/package.json');
  const args = [join(dirname(script), 'dist', 'index.js')];
  return { command: process.execPath, args, env: { CODEX_PATH: codexBinary(), NO_BROWSER: '1' } };
}
