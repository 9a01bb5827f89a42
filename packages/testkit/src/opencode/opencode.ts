import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Returns the path of the real opencode: this platform's program itself, because the package `opencode-ai` contains the
 * program only after an installation script has run. opencode is an optional dependency; throws if it is not installed.
 */
export function opencodeBinary(): string {
  const name = `opencode-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/opencode`);
  } catch (cause) {
    const message = `opencode is not installed for this platform: “npm install --no-save ${name}” installs it.`;
    throw new Error(message, { cause });
  }
}

/**
 * Returns the environment in which opencode runs in `home`, with a scripted Messages API at `apiUrl` for its only
 * model: without a key, without network access, and without the user's own configuration. opencode asks before it edits
 * a file or runs a command.
 */
export async function opencodeEnvironment(
  home: string,
  apiUrl: string,
): Promise<Record<string, string>> {
  const models = join(home, 'models.json');
  await mkdir(home, { recursive: true });
  await writeFile(models, '{}');
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    TMPDIR: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(configuration(apiUrl)),
    OPENCODE_MODELS_PATH: models,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_SHARE: '1',
    // opencode looks for a plugin library at each start, and no setting prevents this. With the test's own API as the
    // npm registry, opencode finds no library.
    npm_config_registry: apiUrl,
  };
}

const configuration = (apiUrl: string) => ({
  model: 'scripted/scripted-model',
  small_model: 'scripted/scripted-model',
  enabled_providers: ['scripted'],
  permission: { edit: 'ask', bash: 'ask', webfetch: 'deny' },
  provider: {
    scripted: {
      npm: '@ai-sdk/anthropic',
      name: 'Scripted',
      options: { baseURL: `${apiUrl}/v1`, apiKey: 'scripted' },
      models: {
        'scripted-model': {
          name: 'Scripted model',
          tool_call: true,
          limit: { context: 200_000, output: 8_000 },
        },
      },
    },
  },
});
