import { thrownMessage, type ToolKind } from '@liminal/protocol';
import type { ProjectGrants } from '../../contract/provider.ts';
import { isAllowed, type Permission } from '../tools/index.ts';

/**
 * Whether people are asked before a tool changes something: always (`ask`), always except for edits (`edits`), or never
 * (`all`).
 */
export type Mode = 'ask' | 'edits' | 'all';

interface PermissionsOptions {
  /** The store of permanent permissions; without a store, permissions last as long as the session. */
  grants: ProjectGrants | undefined;
  /**
   * Reports a sentence for people about why permissions could not be read or added; reports undefined once that
   * succeeds again.
   */
  onProblem: (what: 'read' | 'add', problem: string | undefined) => void;
}

/** Decides which tool calls of a session may run without a question. */
export class Permissions {
  mode: Mode = 'ask';
  readonly #options: PermissionsOptions;
  /**
   * Rules that are only in this session. The project's rules are not copied here, because people may remove them from
   * the project.
   */
  readonly #own = new Set<string>();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** Whether permanent permissions are stored in the project; otherwise permissions last as long as the session. */
  get areStored(): boolean {
    return this.#options.grants !== undefined;
  }

  /**
   * Returns whether the call may run without a question. Never rejects: if the project's permissions cannot be read,
   * people are asked.
   */
  async allow(kind: ToolKind, needed: readonly Permission[]): Promise<boolean> {
    if (this.mode === 'all') return true;
    if (this.mode === 'edits' && kind === 'edit') return true;
    if (isAllowed(needed, [...this.#own])) return true;
    return isAllowed(needed, [...this.#own, ...(await this.#storedRules())]);
  }

  /** Adds permanent permissions. Never rejects: a permission that cannot be stored lasts as long as the session. */
  async grant(needed: readonly Permission[]): Promise<void> {
    const { grants, onProblem } = this.#options;
    for (const { rule, always } of needed) {
      try {
        if (grants === undefined) this.#own.add(rule);
        else await grants.add(rule, always);
      } catch (error) {
        this.#own.add(rule);
        const why = thrownMessage(error);
        onProblem(
          'add',
          `“${always}” is allowed in this session only: it could not be stored. ${why}`,
        );
      }
    }
  }

  async #storedRules(): Promise<string[]> {
    const { grants, onProblem } = this.#options;
    try {
      const rules = (await grants?.list()) ?? [];
      onProblem('read', undefined);
      return rules;
    } catch (error) {
      const why = thrownMessage(error);
      onProblem('read', `This project’s permanent permissions could not be read. ${why}`);
      return [];
    }
  }
}
