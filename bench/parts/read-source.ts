import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('source.ts', import.meta.url));

/** Runs the source; parses each of its messages and passes the message on. Resolves when the source has ended. */
export async function readSource(
  { count, rate, blocks = 1 }: { count: number; rate: number; blocks?: number },
  onMessage: (message: unknown) => void,
): Promise<void> {
  const child = spawn(process.execPath, [script, ...[count, rate, blocks].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let rest = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onMessage(JSON.parse(line));
  });
  await ended;
}
