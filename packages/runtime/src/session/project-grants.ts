import type { ProjectGrants } from '@liminal/agents';
import type { ResponseStore } from '@liminal/storage';

/** Returns the permissions that users have granted in a project, for the agents of the project's sessions. */
export function projectGrants(
  { store, now }: { store: ResponseStore; now: () => number },
  projectId: string,
): ProjectGrants {
  return {
    list: async () => (await store.listGrants(projectId)).map(({ rule }) => rule),
    add: async (rule, title) =>
      store.addGrant(projectId, { rule, title, grantedAt: new Date(now()).toISOString() }),
  };
}
