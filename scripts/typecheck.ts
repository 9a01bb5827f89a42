// Checks the types of the whole repository, and also the types of each environment with only the types that exist
// there. All checks run at the same time, each with one checker. More checkers per project would check shared files
// again: on two cores, that doubles the time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const projects = [
  'tsconfig.json',
  'tsconfig.protocol.json',
  'tsconfig.browser.json',
  'tsconfig.server.json',
];

/**
 * Lets the Go garbage collector of the compiler run less often, which saves a sixth of the time and takes a tenth more
 * memory.
 */
const env = { ...process.env, GOGC: process.env['GOGC'] ?? '400' };

async function check(project: string): Promise<boolean> {
  const child = spawn('tsc', ['-p', project, '--checkers', '1'], { stdio: 'inherit', env });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

const passed = await Promise.all(projects.map(check));
process.exitCode = passed.every(Boolean) ? 0 : 1;
