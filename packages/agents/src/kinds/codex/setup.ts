/** Reads a thread's setup: what Codex' terminal shows with /status, /permissions, /hooks and /skills. */
import type { SessionSetup, SetupEntry } from '@liminal/protocol';
import { z } from 'zod';
import { shownPart } from '../../base/shown-setup.ts';
import type { AppServer } from './app-server.ts';
import { listedSkills } from './commands.ts';

const Hooks = z.looseObject({
  data: z.array(
    z.looseObject({
      hooks: z
        .array(
          z.looseObject({
            eventName: z.string(),
            matcher: z.string().nullish().catch(undefined),
            sourcePath: z.string().catch(''),
            enabled: z.boolean().catch(true),
            trustStatus: z.string().catch('trusted'),
            command: z.string().optional().catch(undefined),
            handlerType: z.string().catch(''),
          }),
        )
        .catch([]),
    }),
  ),
});

const Profiles = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      description: z.string().nullish().catch(undefined),
      allowed: z.boolean().catch(true),
    }),
  ),
});

const AccountAnswer = z.looseObject({
  account: z
    .looseObject({
      type: z.string(),
      email: z.string().nullish(),
      planType: z.string().nullish(),
      workspaceName: z.string().nullish(),
    })
    .nullish(),
});

interface SetupOptions {
  server: AppServer;
  projectDir: string;
  /** The paths of the thread's instruction files. */
  memory: readonly string[];
  facts: Readonly<Record<string, string | undefined>>;
}

export async function readSetup({
  server,
  projectDir,
  memory,
  facts,
}: SetupOptions): Promise<SessionSetup> {
  const cwds = [projectDir];
  const [hooks, skills, profiles, account] = await Promise.all([
    server.tryRequest('hooks/list', { cwds }),
    server.tryRequest('skills/list', { cwds }),
    server.tryRequest('permissionProfile/list', { cwd: projectDir }),
    server.tryRequest('account/read', {}),
  ]);
  const all = { Version: server.version, ...facts, Account: accountOf(account) };
  return {
    facts: Object.entries(all).flatMap(([name, value = '']) =>
      value === '' ? [] : [{ name, value }],
    ),
    parts: [
      shownPart(
        'permissions',
        (Profiles.safeParse(profiles).data?.data ?? []).map(({ id, description, allowed }) => ({
          name: id,
          detail: description ?? '',
          source: 'Permission profile',
          isOff: !allowed,
        })),
      ),
      shownPart('hooks', hookEntries(hooks)),
      shownPart(
        'skills',
        listedSkills(skills).map(
          ({ name, description, shortDescription = description, path, enabled }) => ({
            name,
            detail: shortDescription,
            source: path,
            isOff: !enabled,
          }),
        ),
      ),
      shownPart(
        'memory',
        memory.map((name) => ({ name })),
      ),
    ],
  };
}

function hookEntries(answer: unknown): SetupEntry[] {
  const hooks = (Hooks.safeParse(answer).data?.data ?? []).flatMap((entry) => entry.hooks);
  return hooks.map(({ eventName, matcher, sourcePath, command, handlerType, ...hook }) => ({
    name: matcher == null || matcher === '' ? eventName : `${eventName} (${matcher})`,
    detail: command ?? handlerType,
    source: sourcePath,
    // Codex runs a hook only after a person has trusted the hook.
    isOff: !hook.enabled || hook.trustStatus === 'untrusted' || hook.trustStatus === 'modified',
  }));
}

/** Returns the account's owner, workspace and plan; no keys or tokens. */
function accountOf(answer: unknown): string {
  const account = AccountAnswer.safeParse(answer).data?.account;
  if (account == null) return '';
  const { type, email, planType, workspaceName } = account;
  const parts = [email, workspaceName, planType].filter((part) => part != null);
  if (parts.length > 0) return parts.join(', ');
  return type === 'apiKey' ? 'API key' : type;
}
