/** Tests the real Gemini CLI, which is configured only by its command. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  geminiCall,
  geminiEnvironment,
  geminiReply,
  type GeminiScript,
  startGeminiApi,
  type Workspace,
} from '@liminal/testkit';
import { expect, test } from 'vitest';
import { messagesOf } from '../acp/running-agent.ts';
import { runNpmAgent } from './stage.ts';

const runGemini = (
  script: (workspace: Workspace) => GeminiScript,
  files: Record<string, string> = {},
) =>
  runNpmAgent({
    agent: 'gemini',
    startModel: (workspace) => startGeminiApi(script(workspace)),
    environment: geminiEnvironment,
    files,
  });

test('creates a file that does not exist, and changes another file', async () => {
  const { create, provider, projectDir } = await runGemini(
    ({ projectDir: folder }) => [
      geminiReply(
        geminiCall('write_file', { file_path: join(folder, 'new.txt'), content: 'new\n' }),
      ),
      geminiReply(
        geminiCall('replace', {
          file_path: join(folder, 'notes.txt'),
          instruction: 'Write it in German.',
          old_string: 'two',
          new_string: 'zwei',
        }),
      ),
      geminiReply('Both are written.'),
    ],
    { 'notes.txt': 'one\ntwo\n' },
  );
  const listener = await create();
  const turnId = await listener.send('Write both.');
  for (const count of [1, 2]) {
    const asked = await listener.until(() => {
      const all = listener
        .of(turnId)
        .flatMap(({ payload }) =>
          payload.type === 'item_start' && payload.itemType === 'approval' ? [payload] : [],
        );
      return all[count - 1];
    });
    await provider.answerApproval(listener.sessionId, asked.approvalId ?? '', {
      optionId: 'proceed_once',
    });
  }

  const response = await listener.response(turnId);

  expect(messagesOf(response).at(-1)).toBe('agent: Both are written.');
  expect(await readFile(join(projectDir, 'new.txt'), 'utf8')).toBe('new\n');
  expect(await readFile(join(projectDir, 'notes.txt'), 'utf8')).toBe('one\nzwei\n');
});
