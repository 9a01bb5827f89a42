import type { Workspace } from '../workspace.ts';

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Where Claude Code names a task or an agent; its ids have no pattern of their own. */
const taskIdKeys = new Set([
  'task_id',
  'agent_id',
  'agentId',
  'run_id',
  'runId',
  'backgroundTaskId',
]);
const measuredKey = /(_ms|Ms|_seconds|_time|_at|pid)$/;
/** Claude Code gives a plan's file a name of random words. */
const planFile = /\/plans\/[\w-]+\.md/g;
const socketFile = /\/cc-socks\/\d+\.sock/g;
const durationInText = /duration_ms: \d+/g;
const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

/**
 * Makes recordings comparable: ids are numbered in the order they appear, measured times become 0, folders become
 * `/home/user` and `/project`. What is left differs only where Claude Code itself does.
 */
export class Normaliser {
  readonly #ids = new Map<string, string>();
  readonly #taskIds = new Map<string, string>();
  readonly #folders: [string, string][];

  constructor(workspace: Workspace, apiUrl: string) {
    this.#folders = [
      [workspace.home, '/home/user'],
      [workspace.projectDir, '/project'],
      [workspace.home.replaceAll(/[^a-zA-Z0-9]/g, '-'), '-home-user'],
      [workspace.projectDir.replaceAll(/[^a-zA-Z0-9]/g, '-'), '-project'],
      [new URL(apiUrl).host, '127.0.0.1:1'],
    ];
  }

  /** A normalised copy of `value`. */
  apply<T>(value: T): T {
    this.#learnTaskIds(value);
    return this.#walk('', value) as T;
  }

  #learnTaskIds(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (taskIdKeys.has(key) && typeof inner === 'string' && !this.#taskIds.has(inner)) {
        this.#taskIds.set(inner, `task${this.#taskIds.size + 1}`);
      }
      this.#learnTaskIds(inner);
    }
  }

  #walk(key: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'number') return measuredKey.test(key) ? 0 : value;
    if (Array.isArray(value)) return value.map((inner) => this.#walk(key, inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.#walk(name, inner)]),
    );
  }

  #text(value: string): string {
    let result = value;
    for (const [folder, name] of this.#folders) result = result.replaceAll(folder, name);
    for (const [id, name] of this.#taskIds) result = result.replaceAll(id, name);
    return result
      .replaceAll(planFile, '/plans/plan.md')
      .replaceAll(durationInText, 'duration_ms: 0')
      .replaceAll(socketFile, '/cc-socks/1.sock')
      .replaceAll(uuidPattern, (id) => this.#numbered(id))
      .replaceAll(isoTime, '2026-01-01T00:00:00.000Z');
  }

  #numbered(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const name = `00000000-0000-4000-8000-${String(this.#ids.size + 1).padStart(12, '0')}`;
    this.#ids.set(id, name);
    return name;
  }
}
