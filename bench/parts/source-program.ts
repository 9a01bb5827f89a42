import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes a program into a folder. The program runs the source with this Node: the SDK would run a script with whichever
 * Node it finds.
 */
export async function sourceProgram(folder: string): Promise<string> {
  const program = join(folder, 'source');
  const script = fileURLToPath(new URL('source.ts', import.meta.url));
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, {
    mode: 0o755,
  });
  return program;
}
