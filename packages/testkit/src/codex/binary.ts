import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Returns the path of the real `codex`: this platform's program itself, not the script that starts it. Codex is an
 * optional dependency; throws if it is not installed.
 */
export function codexBinary(): string {
  const codex = createRequire(require.resolve('@openai/codex/package.json'));
  const platform = codex.resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`);
  const vendor = join(dirname(platform), 'vendor');
  const [target = ''] = readdirSync(vendor);
  return join(vendor, target, 'bin', 'codex');
}

/**
 * Returns the command and environment of the real `codex-acp` for a configured agent. `codex-acp` speaks ACP and runs
 * `codexBinary()`.
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
