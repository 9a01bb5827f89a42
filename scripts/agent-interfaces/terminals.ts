/**
 * Lists the commands and keys of the agents' own terminals, each with its counterpart in Liminal. They become tables in
 * docs/terminal-commands.md.
 */
import { useless } from '../../packages/agents/src/kinds/claude-code/commands.ts';
import { terminalCommands as claudeCommands } from '../../packages/agents/src/kinds/claude-code/terminal-commands.ts';
import { builtIn } from '../../packages/agents/src/kinds/codex/commands.ts';
import { terminalCommands as codexCommands } from '../../packages/agents/src/kinds/codex/terminal-commands.ts';
import { claudeKeys, codexKeys, type TerminalKey } from './terminal-keys.ts';

/**
 * The commands that Claude Code 2.1.332 lists for the SDK, with the commands' other names, and the skills that are
 * built into Claude Code.
 */
export const listedCommands: readonly string[] =
  `agents auto-mode-setup autocompact batch checkup claude-api clear code-review compact config context cost dataviz
  debug deep-research doctor effort fewer-permission-prompts goal init insights list-agents loop mcp model name new output-style
  peers plugin-authoring proactive recap reload-plugins reload-skills rename reset review run run-skill-generator security-review settings
  simplify stats  team-onboarding update-config usage verify workflow-authoring`.split(/\s+/);

const offered = 'The same: the agent answers it.';

type Places = Readonly<Record<string, string>>;

const allHere = (names: Iterable<string>, here: string): Places =>
  Object.fromEntries([...names].map((name) => [name, here]));

/** The counterpart of each terminal command in Liminal, by the terminal's title. */
export const commandPlaces = {
  'Claude Code': {
    ...allHere(listedCommands, offered),
    ...allHere(useless, 'Not offered, because it is useless in Liminal; Claude Code answers it.'),
    ...claudeCommands,
  },
  Codex: {
    ...allHere(
      builtIn.map(({ name }) => name),
      offered,
    ),
    ...codexCommands,
  },
} satisfies Record<string, Places>;

/** Returns the table of an agent's commands. Commands with the same counterpart in Liminal share a row. */
function commandTable([title, places]: readonly [string, Places]): string {
  const byPlace = Map.groupBy(Object.entries(places), ([, here]) => here);
  const rows = [...byPlace].map(([here, commands]) => {
    const names = commands.map(([name]) => `\`/${name}\``).toSorted();
    return `| ${names.join(', ')} | ${here} |`;
  });
  return [`| commands of ${title} | in Liminal |`, '|---|---|', ...rows].join('\n');
}

function keyTable(title: string, keys: readonly TerminalKey[]): string {
  const rows = keys.map((key) => `| \`${key.keys}\` | ${key.does} | ${key.here} |`);
  return [`| keys of ${title} | in the terminal | in the page |`, '|---|---|---|', ...rows].join(
    '\n',
  );
}

const [begin, end] = [
  '<!-- Made by `npm run interfaces -- --write`; `npm test` fails if it is old. -->',
  '<!-- end -->',
];

/** Returns docs/terminal-commands.md with newly generated tables. */
export function withTerminals(page: string): string {
  const [before = '', rest = ''] = page.split(begin);
  const after = rest.slice(rest.indexOf(end));
  const tables = [
    ...Object.entries(commandPlaces).map(commandTable),
    keyTable('Claude Code', claudeKeys),
    keyTable('Codex', codexKeys),
  ];
  return `${before}${begin}\n${tables.join('\n\n')}\n${after}`;
}
