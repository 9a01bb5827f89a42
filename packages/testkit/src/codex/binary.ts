import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * The real `codex-acp`: the program of this platform itself, not the script that would start it and would outlive what
 * ends the script. It is an optional dependency; where it is not installed, this throws.
 */
export function codexBinary(): string {
  const adapter = require.resolve('@zed-industries/codex-acp/package.json');
  const platform = createRequire(adapter).resolve(
    `@zed-industries/codex-acp-${process.platform}-${process.arch}/package.json`,
  );
  return join(dirname(platform), 'bin', 'codex-acp');
}
