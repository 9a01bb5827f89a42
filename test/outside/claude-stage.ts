import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { ProviderRegistry } from '@liminal/agents';
import { ClaudeCodeProvider } from '@liminal/agents/claude-code';
import type { UpsertObject } from '@liminal/protocol';
import { createRuntime, type Runtime } from '@liminal/runtime';
import { claudeEnvironment, makeWorkspace, reply, startMessagesApi } from '@liminal/testkit';
import { onTestFinished, vi } from 'vitest';
import { openMedium } from '../../packages/runtime/test/medium.ts';
import { Reader } from '../../packages/runtime/test/reader.ts';

const require = createRequire(import.meta.url);
const sdk = '@anthropic-ai/claude-agent-sdk';
const program = require.resolve(`${sdk}-${process.platform}-${process.arch}/claude`);

/** A runtime with the real Claude Code, and terminals beside it, on one store. What the model says repeats the prompt. */
export async function claudeStage() {
  const workspace = await makeWorkspace({});
  const api = await startMessagesApi({ script: ({ prompt }) => reply(`So: ${prompt}`) });
  const env = claudeEnvironment(workspace.home, api.url);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  const { projectDir } = workspace;
  const medium = openMedium('memory');
  const storage = await medium.open();
  const warnings: string[] = [];
  const start = async (): Promise<Runtime> => {
    const providers = new ProviderRegistry();
    providers.register(new ClaudeCodeProvider({ env }));
    const note = (details: object, text: string) =>
      void warnings.push(`${text} ${JSON.stringify(details)}`);
    const logger = { info: () => undefined, warn: note, error: note };
    return createRuntime({ storage, providers, roots: [projectDir], logger });
  };
  let runtime = await start();
  const closed: (() => Promise<unknown>)[] = [];
  onTestFinished(async () => {
    await Promise.all(closed.map((close) => close()));
    await runtime.close();
    await storage.close();
    medium.remove();
    await api.close();
    vi.unstubAllEnvs();
    await workspace.remove();
  });

  const terminal = (sessionId: string, ...args: string[]) =>
    spawn(program, ['-p', '--resume', sessionId, ...args], {
      cwd: projectDir,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });

  return {
    api,
    warnings,
    get runtime() {
      return runtime;
    },
    /** The server ends and starts again, on the same store. */
    async restart() {
      await runtime.close();
      runtime = await start();
    },
    async create(): Promise<string> {
      const { sessionId } = await runtime.createSession({ cliType: 'claude-code', projectDir });
      return sessionId;
    },
    /** One turn here, to its end. */
    async say(sessionId: string, message: string): Promise<void> {
      const reader = new Reader(runtime, sessionId);
      await reader.untilType('session:info');
      await runtime.send(sessionId, message);
      await reader.untilTurn('turn_complete');
      reader.close();
      await idle(runtime, sessionId);
    },
    /** One turn in a terminal that ends with it. */
    async inTerminal(sessionId: string, message: string): Promise<void> {
      const child = terminal(sessionId, message);
      child.stdin.end();
      child.stdout.resume();
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`Claude Code ended with ${String(code)}.`);
    },
    /** A terminal that stays open, with what it knows of the conversation. */
    openTerminal(sessionId: string) {
      const format = 'stream-json';
      const formats = ['--input-format', format, '--output-format', format];
      const child = terminal(sessionId, ...formats, '--verbose');
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const end = async (): Promise<void> => {
        child.stdin.end();
        if (child.exitCode === null) await once(child, 'close');
      };
      closed.push(end);
      return {
        end,
        async say(message: string): Promise<void> {
          const content = { role: 'user', content: message };
          child.stdin.write(`${JSON.stringify({ type: 'user', message: content })}\n`);
          for (;;) {
            const { value, done } = await lines.next();
            if (done === true) throw new Error('The terminal has ended.');
            if (String(value).includes('"type":"result"')) return;
          }
        },
      };
    },
    watch(sessionId: string, cursor?: string): Reader {
      return new Reader(runtime, sessionId, { cursor });
    },
    /** What is said in history, each item once, by whom. */
    async history(sessionId: string): Promise<string[]> {
      const { entries } = await runtime.history(sessionId);
      return entries.flatMap(words);
    },
    /** What the model was told with a prompt, by those who speak. */
    async told(message: string): Promise<string[]> {
      const { body } = await api.request(({ prompt }) => prompt === message);
      return body.messages.flatMap(({ role, content }) => {
        if (role === 'system') return [];
        const blocks = typeof content === 'string' ? [{ text: content }] : content;
        const texts = blocks.flatMap(({ text }) => text ?? []);
        return texts.filter((text) => !text.startsWith('<')).map((text) => text.trim());
      });
    },
  };
}

export const words = (item: UpsertObject): string[] =>
  item.type === 'message' ? [`${item.origin}: ${item.content}`] : [];

/** A turn that is shown as ended may not be history yet. */
export async function idle(runtime: Runtime, sessionId: string): Promise<void> {
  await vi.waitUntil(async () => (await runtime.status(sessionId)).state === 'idle');
}
