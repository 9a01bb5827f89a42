import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npmAgentEnvironment } from './npm-agent.ts';

/**
 * Returns the environment in which Gemini CLI runs in `home` with a scripted Gemini API at `apiUrl`: without a key and
 * without network access.
 */
export async function geminiEnvironment(
  home: string,
  apiUrl: string,
): Promise<Record<string, string>> {
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    general: { disableAutoUpdate: true, disableUpdateNag: true },
  };
  await mkdir(join(home, '.gemini'), { recursive: true });
  await writeFile(join(home, '.gemini/settings.json'), JSON.stringify(settings));
  return {
    ...npmAgentEnvironment(home),
    GEMINI_API_KEY: 'scripted',
    GOOGLE_GEMINI_BASE_URL: apiUrl,
    // This variable keeps Gemini CLI from restarting itself with a larger heap.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  };
}

/**
 * Renames the sessions that Gemini CLI has stored in `home`, so that they look older. Gemini CLI would overwrite a
 * session that is loaded in the same minute in which it began.
 */
export async function ageGeminiSessions(home: string): Promise<void> {
  const folder = join(home, '.gemini/tmp');
  for (const file of await readdir(folder, { recursive: true })) {
    const older = file.replace(/session-\d{4}-/, 'session-2020-');
    if (older !== file) await rename(join(folder, file), join(folder, older));
  }
}
