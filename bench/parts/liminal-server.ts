import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Connection } from './connection.ts';
import { Measured } from './process.ts';

const bin = (name: string): string =>
  fileURLToPath(new URL(`../../packages/cli/bin/${name}.js`, import.meta.url));

export interface LiminalServer {
  process: Measured;
  connection: Connection;
}

/** The server as people run it, on a data folder, with an environment of its own. */
export async function startLiminalServer(
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Promise<LiminalServer> {
  const args = [bin('liminal'), 'serve', '--port', '0', '--no-open', '--data', dataDir];
  // As `npm start` does when the code has changed.
  execFileSync(process.execPath, [bin('compile')]);
  const server = await Measured.start(args, env);
  const link = new URL(/http\S+/.exec(server.firstLine)?.[0] ?? '');
  return {
    process: server,
    connection: new Connection(link.origin, link.searchParams.get('token') ?? ''),
  };
}
