import { CodexProcess, type RpcMessage } from '@liminal/testkit';

/** Runs Codex without Liminal, as an editor other than Liminal does: Codex answers a prompt in a session of its own. */
export async function runCodexAlone(
  prompt: string,
  { folder, home }: { folder: string; home: string },
): Promise<void> {
  const waiting = new Map<unknown, (answer: RpcMessage) => void>();
  const over = Promise.withResolvers<void>();
  const codex = await CodexProcess.start(home, folder, (message) => {
    if (message.method === undefined) waiting.get(message.id)?.(message);
    if (message.method === 'turn/completed') over.resolve();
  });
  const ask = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(JSON.stringify(error))),
      );
      codex.send({ id, method, params });
    });
  try {
    await ask('initialize', { clientInfo: { name: 'editor', title: 'Editor', version: '1' } });
    codex.send({ method: 'initialized' });
    const begun = await ask('thread/start', { cwd: folder });
    const { thread } = begun as { thread: { id: string } };
    const input = [{ type: 'text', text: prompt, text_elements: [] }];
    await ask('turn/start', { threadId: thread.id, input });
    await over.promise;
  } finally {
    await codex.kill();
  }
}
