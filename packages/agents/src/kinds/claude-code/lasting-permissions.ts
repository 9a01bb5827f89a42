/** Describes Claude Code's proposals for lasting permissions completely, in words for people. */
import type {
  PermissionMode,
  PermissionRuleValue,
  PermissionUpdate,
  PermissionUpdateDestination,
} from '@anthropic-ai/claude-agent-sdk';

/** One choice. The name mentions every permission that the choice grants. */
interface LastingPermission {
  name: string;
  updates: PermissionUpdate[];
}

/** The scope of a permission. */
const reaches: Record<PermissionUpdateDestination, string> = {
  userSettings: 'in all projects',
  projectSettings: 'in this project, for all who work on it',
  localSettings: 'in this project',
  session: 'in this session',
  cliArg: 'in this session',
};

/** Words for the calls that each mode allows, to follow “Allow”; other modes need no consent. */
const modeGrants = new Map<PermissionMode, string>([
  ['acceptEdits', 'all edits'],
  ['auto', 'all that a second model approves'],
  ['bypassPermissions', 'everything, without asking,'],
]);

/**
 * Returns the choices in a list of proposals, with rules separate from modes and folders, one choice per scope.
 * Proposals that remove or replace rules are not offered, because their effect cannot be described.
 */
export function lastingPermissions(
  proposals: readonly PermissionUpdate[],
  cwd: string,
): LastingPermission[] {
  const destinations = [...new Set(proposals.map(({ destination }) => destination))];
  return destinations.flatMap((destination) => {
    const there = proposals.filter((proposal) => proposal.destination === destination);
    return [rulesOf(there, reaches[destination]), widerOf(there, reaches[destination], cwd)].filter(
      ({ updates }) => updates.length > 0,
    );
  });
}

function rulesOf(proposals: readonly PermissionUpdate[], reach: string): LastingPermission {
  const updates = proposals
    .filter((one) => one.type === 'addRules')
    .filter(({ behavior }) => behavior === 'allow');
  const grants = updates.flatMap(({ rules }) => rules.map(grantOf));
  return { name: `Always allow ${listOf(grants)} ${reach}`, updates };
}

/** Returns the choice for modes and folders, without the session's own folder, in which the agent may work anyway. */
function widerOf(
  proposals: readonly PermissionUpdate[],
  reach: string,
  cwd: string,
): LastingPermission {
  const modes = proposals
    .filter((one) => one.type === 'setMode')
    .filter(({ mode }) => modeGrants.has(mode));
  const folders = proposals.filter((one) => one.type === 'addDirectories');
  const others = folders.flatMap(({ directories }) => directories).filter((path) => path !== cwd);
  const grants = [
    ...modes.map(({ mode }) => modeGrants.get(mode) ?? mode),
    ...(others.length === 0 ? [] : [`work in ${listOf(others)}`]),
  ];
  const updates = grants.length === 0 ? [] : [...modes, ...folders];
  return { name: `Allow ${listOf(grants)} ${reach}`, updates };
}

/** Returns words for the calls that a rule allows, to follow “Always allow”. */
function grantOf({ toolName, ruleContent }: PermissionRuleValue): string {
  const [, server, tool] = /^mcp__(.(?:(?!__).)*)(?:__(.+))?$/.exec(toolName) ?? [];
  if (server !== undefined) {
    return tool === undefined || tool === '*'
      ? `all tools of the MCP server ${server}`
      : `the tool ${tool} of the MCP server ${server}`;
  }
  if (ruleContent === undefined || ruleContent === '') return `every use of ${toolName}`;
  const prefix = /^(.*?)(?::| )\*$/s.exec(ruleContent)?.[1];
  if (toolName === 'Bash') {
    return prefix === undefined
      ? `\`${ruleContent}\``
      : `all commands that begin with \`${prefix}\``;
  }
  const folder = /^\/(\/.*?)\/\*\*$/s.exec(ruleContent)?.[1];
  if (toolName === 'Read' && folder !== undefined) return `reading everything in ${folder}`;
  const domain = /^domain:(.+)$/s.exec(ruleContent)?.[1];
  if (toolName === 'WebFetch' && domain !== undefined) return `fetching pages from ${domain}`;
  return `${toolName} \`${ruleContent}\``;
}

/** Joins parts to a list: “a, b and c”. */
const listOf = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
