import type { PermissionUpdate } from '@anthropic-ai/claude-agent-sdk';
import type { ProjectSettings, ProjectTrust } from '../../contract/project-settings.ts';
import { differOnlyByRules, readClaudeProject } from './project-settings.ts';

type PermissionRules = Extract<PermissionUpdate, { type: 'addRules' }>['rules'];

/** Settings of a project, as opposed to the user's own. */
const inProject: ReadonlySet<string> = new Set(['projectSettings', 'localSettings']);

/** The project folder's settings with which one process of Claude Code runs. */
export class ProjectInUse {
  /** Whether the process reads settings of the project. */
  readonly isUsed: boolean;
  readonly #projectDir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #trust: ProjectTrust | undefined;
  #settings: ProjectSettings | undefined;
  /** Lasting rules that people have allowed in this process. */
  readonly #allowed: PermissionRules = [];

  private constructor(
    projectDir: string,
    env: NodeJS.ProcessEnv,
    trust: ProjectTrust | undefined,
    settings: ProjectSettings | undefined,
    isUsed: boolean,
  ) {
    this.#projectDir = projectDir;
    this.#env = env;
    this.#trust = trust;
    this.#settings = settings;
    this.isUsed = isUsed;
  }

  /**
   * Decides whether a process uses the project's settings. Must be called right before the process starts. A folder
   * without settings that run or permit something needs no trust.
   */
  static async decide(
    projectDir: string,
    env: NodeJS.ProcessEnv,
    trust: ProjectTrust | undefined,
  ): Promise<ProjectInUse> {
    const settings = await readClaudeProject(projectDir, env);
    const isUsed = settings === undefined || (await trust?.uses(settings)) === true;
    trust?.started(settings, isUsed);
    return new ProjectInUse(projectDir, env, trust, settings, isUsed);
  }

  /**
   * Returns whether the process may use the settings files as they are now. The process itself reloads changed files.
   */
  async mayUseNow(): Promise<boolean> {
    const now = await readClaudeProject(this.#projectDir, this.#env);
    if (now === undefined || now.hash === this.#settings?.hash) return true;
    if (differOnlyByRules(this.#settings, now, this.#allowed)) {
      this.#settings = now;
      await this.#trust?.changed(now);
      return true;
    }
    if ((await this.#trust?.uses(now)) !== true) return false;
    this.#settings = now;
    this.#trust?.started(now, true);
    return true;
  }

  /** Records the rules that a person has permanently allowed; Claude Code writes them into the project's settings. */
  allowed(updates: readonly PermissionUpdate[]): void {
    for (const update of updates) {
      if (update.type === 'addRules' && inProject.has(update.destination)) {
        this.#allowed.push(...update.rules);
      }
    }
  }

  /** Whether a person has permanently allowed something, which may have changed the files. */
  get hasAllowed(): boolean {
    return this.#allowed.length > 0;
  }

  /**
   * Returns the proposals for lasting permissions. If the process does not read the project's settings, a permission
   * for the project becomes one for the session.
   */
  proposals(suggestions: readonly PermissionUpdate[]): PermissionUpdate[] {
    return suggestions.map((one) =>
      this.isUsed || !inProject.has(one.destination) ? one : { ...one, destination: 'session' },
    );
  }
}
