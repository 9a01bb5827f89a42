import { messageOf, type ToolKind } from '@liminal/protocol';
import type { ProjectGrants } from '../provider.ts';
import { isAllowed, type Permission } from '../tools/index.ts';

/** When people are asked before a tool changes something: always, except for edits, or never. */
export type Mode = 'ask' | 'edits' | 'all';

interface PermissionsOptions {
  /** Where what is allowed for good is kept; without it, it is for the session. */
  grants: ProjectGrants | undefined;
  /** Grants could not be read, or added, and why, in sentences for people; or that this works again. */
  onProblem: (what: 'read' | 'add', problem: string | undefined) => void;
}

/** What a session's tools may do without asking. */
export class Permissions {
  mode: Mode = 'ask';
  readonly #options: PermissionsOptions;
  /** Rules that are kept nowhere else. What the project keeps is not among them: people may take it back. */
  readonly #own = new Set<string>();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** Whether what is allowed for good is kept for the project: else it holds for the session. */
  get areKept(): boolean {
    return this.#options.grants !== undefined;
  }

  /** Never rejects: people are asked what cannot be found out. */
  async allow(kind: ToolKind, needed: readonly Permission[]): Promise<boolean> {
    if (this.mode === 'all') return true;
    if (this.mode === 'edits' && kind === 'edit') return true;
    if (isAllowed(needed, [...this.#own])) return true;
    return isAllowed(needed, [...this.#own, ...(await this.#kept())]);
  }

  /** Never rejects: what cannot be kept holds for this session. */
  async grant(needed: readonly Permission[]): Promise<void> {
    const { grants, onProblem } = this.#options;
    for (const { rule, always } of needed) {
      try {
        if (grants === undefined) this.#own.add(rule);
        else await grants.add(rule, always);
      } catch (error) {
        this.#own.add(rule);
        const why = messageOf(error);
        onProblem(
          'add',
          `“${always}” is allowed in this session only: it could not be kept. ${why}`,
        );
      }
    }
  }

  async #kept(): Promise<string[]> {
    const { grants, onProblem } = this.#options;
    try {
      const rules = (await grants?.list()) ?? [];
      onProblem('read', undefined);
      return rules;
    } catch (error) {
      const why = messageOf(error);
      onProblem('read', `What is always allowed in this project could not be read. ${why}`);
      return [];
    }
  }
}
