import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServerProcess, freePort, makeFolder, removeFolder } from '../services/server-process.ts';

export interface LlamaServer {
  /** The base URL. It ends in `/v1`. */
  readonly url: string;
  /** Whether the server is generating an answer. */
  isBusy(): Promise<boolean>;
  close(): Promise<void>;
}

export interface LlamaServerOptions {
  /** The bytes of a model's file. */
  model: Buffer;
  /** The size of the context window, in tokens. */
  contextLength: number;
  args?: readonly string[];
}

/**
 * Starts llama.cpp's own server on a free port on loopback. The environment variable `LLAMA_SERVER` contains the path
 * of the program.
 */
export async function startLlamaServer({
  model,
  contextLength,
  args = [],
}: LlamaServerOptions): Promise<LlamaServer> {
  const program = process.env['LLAMA_SERVER'];
  if (!program) {
    throw new Error(
      'LLAMA_SERVER is not the path of a llama-server. Run npm run llama, which builds the program.',
    );
  }
  const folder = await makeFolder('llama');
  const file = join(folder, 'tiny.gguf');
  await writeFile(file, model);
  const port = await freePort();
  const own = [
    '--model',
    file,
    '--alias',
    'tiny',
    '--ctx-size',
    String(contextLength),
    '--port',
    String(port),
  ];
  const server = await ServerProcess.start({
    program,
    args: [...own, '--host', '127.0.0.1', '--offline', '--slots', ...args],
    ready: 'listening on http',
    folder,
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/v1`,
    isBusy: async () => {
      const slots = (await (await fetch(`${origin}/slots`)).json()) as { is_processing: boolean }[];
      return slots.some((slot) => slot.is_processing);
    },
    close: async () => {
      await server.end('SIGKILL');
      await removeFolder(folder);
    },
  };
}
