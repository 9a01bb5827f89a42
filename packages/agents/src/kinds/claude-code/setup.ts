/**
 * Reads the setup of a running Claude Code: what its terminal shows with /status, /permissions, /hooks, /skills and
 * /memory.
 */
import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { type SessionSetup, type SetupEntry } from '@liminal/protocol';
import { z } from 'zod';
import { shownPart } from '../../base/shown-setup.ts';

const RulesState = z.looseObject({
  state: z.looseObject({
    rules: z.array(
      z.looseObject({
        behavior: z.string(),
        rule: z.string(),
        source: z.string(),
        notInEffect: z.boolean().optional(),
      }),
    ),
  }),
});

const Hooks = z.looseObject({
  hooks: z.array(
    z.looseObject({
      event: z.string(),
      matcher: z.string().catch(''),
      sourceLabel: z.string().catch(''),
      commandText: z.string().catch(''),
      disabled: z.boolean().optional().catch(undefined),
    }),
  ),
});

const ContextUsage = z.looseObject({
  memoryFiles: z.array(z.looseObject({ path: z.string(), type: z.string().catch('') })).catch([]),
  skills: z
    .looseObject({
      skillFrontmatter: z.array(
        z.looseObject({
          name: z.string(),
          source: z.string().catch(''),
          path: z.string().optional().catch(undefined),
        }),
      ),
    })
    .optional()
    .catch(undefined),
});

const Started = z.looseObject({
  claude_code_version: z.string().optional(),
  account: z
    .looseObject({
      email: z.string(),
      organization: z.string(),
      subscriptionType: z.string(),
      apiKeySource: z.string(),
      apiProvider: z.string(),
    })
    .partial()
    .catch({}),
  output_style: z.string().optional().catch(undefined),
});
type Account = z.infer<typeof Started>['account'];

/** Names for the sources of rules and skills. A source that is not in this list is shown with Claude Code's name. */
const sources: Readonly<Record<string, string>> = {
  userSettings: 'user settings',
  projectSettings: 'project settings',
  localSettings: 'local project settings',
  policySettings: 'settings of the organisation',
  flagSettings: 'Liminal',
  cliArg: 'Liminal',
  session: 'allowed in this session',
  plugin: 'plugin',
  'built-in': 'Claude Code',
};

const sourceOf = (name: string): string =>
  Object.hasOwn(sources, name) ? (sources[name] ?? name) : name;

const behaviors: Readonly<Record<string, string>> = {
  allow: 'Allowed',
  ask: 'Asked',
  deny: 'Refused',
};

/** Reads the setup. @param plugins - The plugins of the newest turn. */
export async function readSetup(
  query: Query,
  plugins: readonly { name: string; source?: string | undefined }[],
): Promise<SessionSetup> {
  const ask = async (method: string, ...given: unknown[]): Promise<unknown> => {
    const request: unknown = Reflect.get(query, method);
    if (typeof request !== 'function') return undefined;
    return Promise.resolve(Reflect.apply(request, query, given)).catch(() => undefined);
  };
  const [started, rules, hooks, context] = await Promise.all([
    query.initializationResult(),
    ask('listPermissionRules'),
    ask('getHooksListing'),
    // Without `summary`, Claude Code would ask its API to count the tokens of each part.
    ask('getContextUsage', { detail: 'summary' }),
  ]);
  const { memoryFiles = [], skills } = ContextUsage.safeParse(context).data ?? {};
  const ruleEntries = (RulesState.safeParse(rules).data?.state.rules ?? []).map(
    ({ behavior, rule, source, notInEffect }): SetupEntry => ({
      name: rule,
      detail: behaviors[behavior] ?? behavior,
      source: sourceOf(source),
      ...(notInEffect === true && { isOff: true }),
    }),
  );
  const hookEntries = (Hooks.safeParse(hooks).data?.hooks ?? []).map(
    ({ event, matcher, sourceLabel, commandText, disabled }): SetupEntry => ({
      name: matcher === '' ? event : `${event} (${matcher})`,
      detail: commandText,
      source: sourceLabel,
      ...(disabled === true && { isOff: true }),
    }),
  );
  return {
    facts: factsOf(Started.parse(started)),
    parts: [
      shownPart('permissions', ruleEntries),
      shownPart('hooks', hookEntries),
      shownPart(
        'skills',
        (skills?.skillFrontmatter ?? []).map(({ name, source, path }) => ({
          name,
          source: path ?? sourceOf(source),
        })),
      ),
      shownPart(
        'plugins',
        plugins.map(({ name, source = '' }) => ({ name, source })),
      ),
      shownPart(
        'memory',
        memoryFiles.map(({ path, type }) => ({ name: path, source: type })),
      ),
    ],
  };
}

function factsOf({
  claude_code_version: version,
  account,
  output_style: style,
}: z.infer<typeof Started>) {
  const facts = { Version: version, Account: accountOf(account), 'Output style': style };
  return Object.entries(facts).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [{ name, value }],
  );
}

/** Returns the account's owner, or the source of the API key; never a key or token. */
function accountOf({ email, organization, subscriptionType, ...key }: Account): string {
  const person = [email, organization, subscriptionType].filter((part) => part !== undefined);
  if (person.length > 0) return person.join(', ');
  const provider = key.apiProvider === 'firstParty' ? undefined : key.apiProvider;
  return provider ?? (key.apiKeySource === undefined ? '' : `API key (${key.apiKeySource})`);
}
