import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The program of the command line. */
export const liminal = fileURLToPath(new URL('../../packages/cli/bin/liminal.js', import.meta.url));
const webApp = fileURLToPath(new URL('../../packages/web/dist/index.html', import.meta.url));

/** How long a server may take to print its link on a busy machine, in ms. */
const patience = 60_000;

export interface ServerOptions {
  dataDir: string;
  /** The whole environment of the server. */
  env: Record<string, string>;
  /** The program of the command line. The default is the program in the repository. */
  program?: string;
  /**
   * A file to which all output of the server is written, as with `npm start >server.log 2>&1`. By default, the output
   * goes to pipes.
   */
  logFile?: string;
  /** Options for Node. They come before the program. */
  nodeArgs?: readonly string[];
}

/**
 * The real server in its own process, as `npm start` runs it. A test can kill the server, and restart it on the same
 * port.
 */
export class LiminalServer {
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #link: URL | undefined;
  #log = '';

  private constructor(options: ServerOptions) {
    this.#options = options;
  }

  static async start(options: ServerOptions): Promise<LiminalServer> {
    if (!existsSync(webApp)) {
      throw new Error('The web app is not built: run npm test, or npm start once, which build it.');
    }
    const server = new LiminalServer(options);
    await server.restart();
    return server;
  }

  /**
   * An address that contains the token. It can be opened repeatedly, unlike the printed address, which contains a code.
   */
  get link(): string {
    return `${this.origin}/?token=${encodeURIComponent(this.token)}`;
  }

  /** The address that the server printed. It contains a code that works once. */
  get printedLink(): string {
    return this.#printed.href;
  }

  /** The server's URL, without a trailing slash. */
  get origin(): string {
    return this.#printed.origin;
  }

  get token(): string {
    const file = readFileSync(join(this.#options.dataDir, 'server.json'), 'utf8');
    return (JSON.parse(file) as { token: string }).token;
  }

  get pid(): number {
    return this.#running.pid ?? 0;
  }

  /** The output of all runs of the server so far. */
  get log(): string {
    const { logFile } = this.#options;
    return logFile === undefined ? this.#log : readFileSync(logFile, 'utf8');
  }

  /** Restarts the server with the same data folder and port. */
  async restart(): Promise<void> {
    const args = ['serve', '--port', this.#link?.port ?? '0', '--no-open'];
    const { program = liminal, nodeArgs = [], dataDir, env, logFile } = this.#options;
    const output = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
    const child = spawn(process.execPath, [...nodeArgs, program, ...args, '--data', dataDir], {
      env,
      stdio: ['ignore', output, output],
    });
    if (typeof output === 'number') closeSync(output);
    this.#child = child;
    this.#link = new URL(await this.#printedLink(child));
  }

  /** Ends the server as a power cut would end it. Resolves when the process has ended. */
  async crash(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the server as Ctrl+C would stop it. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    await this.#end('SIGTERM');
    return this.#running.exitCode;
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  #printedLink(child: ChildProcess): Promise<string> {
    const from = this.log.length;
    return new Promise((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`${what}\n${this.log}`));
      const timer = setTimeout(() => fail('The server printed no link.'), patience);
      child.once('error', reject);
      child.once('exit', (code) => fail(`The server ended with ${code} and printed no link.`));
      const look = () => {
        const [, link] = /^Liminal is at (\S+)\n/m.exec(this.log.slice(from)) ?? [];
        if (link === undefined) return;
        clearTimeout(timer);
        clearInterval(looking);
        resolve(link);
      };
      // Check the file at intervals: a file does not report that it has grown, as a pipe does.
      const looking = this.#options.logFile === undefined ? undefined : setInterval(look, 50);
      for (const output of [child.stdout, child.stderr]) {
        output?.on('data', (chunk: Buffer) => {
          this.#log += chunk.toString();
          look();
        });
      }
    });
  }

  get #running(): ChildProcess {
    if (this.#child === undefined) throw new Error('The server was not started.');
    return this.#child;
  }

  get #printed(): URL {
    if (this.#link === undefined) throw new Error('The server was not started.');
    return this.#link;
  }
}
