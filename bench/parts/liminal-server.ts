import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { Measured } from './process.ts';

const bin = (name: string): string =>
  fileURLToPath(new URL(`../../packages/cli/bin/${name}.js`, import.meta.url));

export interface LiminalServer {
  process: Measured;
  connection: Connection;
}

/** Starts the server as users do, on a data folder and with its own environment. `nodeArgs` are options for Node. */
export async function startLiminalServer(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  nodeArgs: readonly string[] = [],
): Promise<LiminalServer> {
  const serve = [bin('liminal'), 'serve', '--port', '0', '--no-open', '--data', dataDir];
  // Bundle the code first, as `npm start` does when the code has changed.
  execFileSync(process.execPath, [bin('make-bundle')]);
  const server = await Measured.start([...nodeArgs, ...serve], env);
  const file = await readFile(join(dataDir, 'server.json'), 'utf8');
  const { url, token } = JSON.parse(file) as { url: string; token: string };
  return { process: server, connection: new Connection(url, token) };
}
