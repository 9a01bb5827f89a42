import { thrownMessage, type ToolKind } from '@liminal/protocol';
import type { ProjectGrants } from '../../contract/provider.ts';
import { isAllowed, type Permission } from '../tools/index.ts';

/** When people are asked before a tool changes something: always; except for edits; never. */
export type Mode = 'ask' | 'edits' | 'all';

interface PermissionsOptions {
  /** The store of permanent permissions; without it they last as long as the session. */
  grants: ProjectGrants | undefined;
  /** Reports, in a sentence for people, why grants could not be read or added; undefined once it works again. */
  onProblem: (what: 'read' | 'add', problem: string | undefined) => void;
}

/** Decides which tool calls of a session need no question. */
export class Permissions {
  mode: Mode = 'ask';
  readonly #options: PermissionsOptions;
  /** Rules that are stored nowhere else. The project's grants are not included, because people may remove them. */
  readonly #own = new Set<string>();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  /** Whether permanent permissions are stored for the project; otherwise they last as long as the session. */
  get areStored(): boolean {
    return this.#options.grants !== undefined;
  }

  /** Whether the call needs no question. Never rejects: if the grants cannot be read, people are asked. */
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
