import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { ClaudeDriver } from '@liminal/agents/claude-code';
import { claudeEnvironment, makeWorkspace, reply, startMessagesApi } from '@liminal/testkit';
import { onTestFinished, vi } from 'vitest';
import { serverStage } from './server-stage.ts';

const require = createRequire(import.meta.url);
const sdk = '@anthropic-ai/claude-agent-sdk';
const program = require.resolve(`${sdk}-${process.platform}-${process.arch}/claude`);

/**
 * Creates a runtime with the real Claude Code, and terminals that use the same store. The model's answers repeat the
 * prompt.
 */
export async function claudeStage() {
  const workspace = await makeWorkspace({});
  const api = await startMessagesApi({ script: ({ prompt }) => reply(`So: ${prompt}`) });
  const env = claudeEnvironment(workspace.home, api.url);
  vi.stubEnv('CLAUDE_CONFIG_DIR', env['CLAUDE_CONFIG_DIR']);
  const { projectDir } = workspace;
  onTestFinished(async () => {
    await api.close();
    vi.unstubAllEnvs();
    await workspace.remove();
  });
  const server = await serverStage(projectDir, () => new ClaudeDriver({ env }));
  const closed: (() => Promise<unknown>)[] = [];
  onTestFinished(async () => {
    await Promise.all(closed.map((close) => close()));
  });

  const run = (...args: string[]) =>
    spawn(program, ['-p', ...args], { cwd: projectDir, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const terminal = (sessionId: string, ...args: string[]) => run('--resume', sessionId, ...args);
  const ended = async (child: ReturnType<typeof run>): Promise<void> => {
    child.stdin.end();
    child.stdout.resume();
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`Claude Code ended with ${String(code)}.`);
  };

  return Object.assign(server, {
    api,
    /** Plays one turn in a terminal. The terminal ends with the turn. */
    async inTerminal(sessionId: string, message: string): Promise<void> {
      await ended(terminal(sessionId, message));
    },
    /** Plays the first turn of a session in a terminal. The terminal ends with the turn. Returns the session's id. */
    async begin(message: string): Promise<string> {
      const sessionId = randomUUID();
      await ended(run('--session-id', sessionId, message));
      return sessionId;
    },
    /** Opens a terminal that stays open and keeps its memory of the conversation. */
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
        async runTurn(message: string): Promise<void> {
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
    /** Returns the texts that the model received with a prompt, each with its role. */
    async modelTexts(message: string): Promise<string[]> {
      const { body } = await api.request(({ prompt }) => prompt === message);
      return body.messages.flatMap(({ role, content }) => {
        if (role === 'system') return [];
        const blocks = typeof content === 'string' ? [{ text: content }] : content;
        const texts = blocks.flatMap(({ text }) => text ?? []);
        return texts.filter((text) => !text.startsWith('<')).map((text) => text.trim());
      });
    },
  });
}
