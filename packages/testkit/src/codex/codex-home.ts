import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedModels } from './models.ts';

export interface CodexHomeOptions {
  /** When Codex asks for permission before it runs a command. Default: `never`. */
  approvalPolicy?: 'never' | 'on-request';
  /**
   * The sandbox mode, which determines the files that commands may change. All modes except `danger-full-access` need
   * `bwrap` in PATH. Default: `danger-full-access`.
   */
  sandbox?: 'danger-full-access' | 'workspace-write' | 'read-only';
  /** Whether the model gets a tool that requests more permissions. */
  asksForRights?: boolean;
  /** How often Codex retries a failed request, and how often a broken stream. Default: 1. */
  retries?: number;
}

/**
 * Makes `folder` a `CODEX_HOME` whose model is a scripted Responses API at `apiUrl`: without a key, without network
 * access, and without the user's own configuration. The home contains a catalog of models, because Codex complains
 * about unknown models in the agent's output.
 */
export async function makeCodexHome(
  folder: string,
  apiUrl: string,
  options: CodexHomeOptions = {},
): Promise<void> {
  const { approvalPolicy = 'never', sandbox = 'danger-full-access', retries = 1 } = options;
  const { asksForRights = false } = options;
  const catalog = join(folder, 'catalog.json');
  await mkdir(folder, { recursive: true });
  await writeFile(catalog, JSON.stringify({ models: scriptedModels }));
  await writeFile(
    join(folder, 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
model_catalog_json = ${JSON.stringify(catalog)}
model_reasoning_summary = "auto"
check_for_update_on_startup = false
approval_policy = "${approvalPolicy}"
sandbox_mode = "${sandbox}"
suppress_unstable_features_warning = true

[features]
request_permissions_tool = ${asksForRights}
plugins = false # they are looked up on hosts outside

[tools.update_plan]
enabled = true

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = ${JSON.stringify(apiUrl)}
wire_api = "responses"
requires_openai_auth = false
request_max_retries = ${retries}
stream_max_retries = ${retries}
`,
  );
}

/**
 * Returns the environment in which the real Codex runs with such a home. `CODEX_HOME` must not be inside the temporary
 * folder: otherwise, Codex warns that it cannot install its helpers in `CODEX_HOME`.
 */
export const codexEnvironment = (home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  TMPDIR: join(home, 'tmp'),
  CODEX_HOME: join(home, '.codex'),
});
