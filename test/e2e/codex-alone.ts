import { CodexProcess, type RpcMessage } from '@liminal/testkit';

/** Has Codex answer a prompt in a session of its own without Liminal, as another editor does. */
export async function runCodexAlone(
  prompt: string,
  { folder, home }: { folder: string; home: string },
): Promise<void> {
  const waiting = new Map<unknown, (answer: RpcMessage) => void>();
  const codex = await CodexProcess.start(home, folder, (message) => {
    if (message.method === undefined) waiting.get(message.id)?.(message);
  });
  const ask = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(JSON.stringify(error))),
      );
      codex.send({ jsonrpc: '2.0', id, method, params });
    });
  try {
    await ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const begun = await ask('session/new', { cwd: folder, mcpServers: [] });
    const { sessionId } = begun as { sessionId: string };
    await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
  } finally {
    await codex.kill();
  }
}
