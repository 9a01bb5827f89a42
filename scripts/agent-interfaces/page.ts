// Writes docs/agent-interfaces.md from the rows.
import {
  claudeFunctions,
  claudeMessages,
  claudeMethods,
  claudeOptions,
  claudeRequests,
} from './claude-code.ts';
import { codexItems, codexNotifications, codexRequests, codexServerRequests } from './codex.ts';
import { namesIn, type Section } from './row.ts';

export const sections: readonly Section[] = [
  claudeMessages,
  claudeRequests,
  claudeMethods,
  claudeOptions,
  claudeFunctions,
  codexRequests,
  codexNotifications,
  codexServerRequests,
  codexItems,
];

const intro = `# What Liminal uses of its agents
<!-- Made by \`npm run interfaces -- --write\`; \`npm test\` fails if it is old. -->
The tables list each name that Claude Code’s SDK and Codex’ app-server declare, and what Liminal does with the name. If a new version adds a name, a test fails until the name is in a table. [Agents](agents.md) explains what this means for users.

| word | meaning |
|---|---|
| used | Liminal calls the name, answers it or acts on it |
| shown | people see the content |
| kept | the session’s log contains the value unchanged, and no client shows it |
| passed by | Liminal receives the value and ignores it |
| not used | Liminal never requests the name, or refuses it |
`;

export function interfacesPage(all: readonly Section[]): string {
  const parts = all.map(({ title, rows }) => {
    const lines = rows.map((row) => {
      const names = namesIn(row).map((name) => `\`${name}\``);
      return `| ${row[0]} | ${names.join(', ')} | ${row[2]} |`;
    });
    return [`## ${title}`, '| state | names | why |', '|---|---|---|', ...lines].join('\n');
  });
  return `${[intro.trim(), ...parts].join('\n\n')}\n`;
}
