import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npmAgentEnvironment } from './npm-agent.ts';

/**
 * Returns the environment in which Qwen Code runs in `home` with a scripted Chat Completions API at `apiUrl`: without a
 * key and without network access.
 */
export async function qwenEnvironment(
  home: string,
  apiUrl: string,
): Promise<Record<string, string>> {
  const settings = {
    security: { auth: { selectedType: 'openai' } },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true, disableUpdateNag: true },
    telemetry: { enabled: false },
    // By default, Qwen Code lets its model decide which tools need no permission.
    tools: { approvalMode: 'default' },
  };
  await mkdir(join(home, '.qwen'), { recursive: true });
  await writeFile(join(home, '.qwen/settings.json'), JSON.stringify(settings));
  return {
    ...npmAgentEnvironment(home),
    OPENAI_API_KEY: 'scripted',
    OPENAI_BASE_URL: apiUrl,
    OPENAI_MODEL: 'scripted-model',
  };
}
