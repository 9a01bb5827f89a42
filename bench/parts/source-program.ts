import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Makes the source a program of its own in a folder: otherwise the SDK would run the script with any Node that it
 * finds.
 */
export async function sourceProgram(folder: string): Promise<string> {
  const program = join(folder, 'source');
  const script = fileURLToPath(new URL('source.ts', import.meta.url));
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, {
    mode: 0o755,
  });
  return program;
}
