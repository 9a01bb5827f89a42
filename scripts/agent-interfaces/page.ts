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
Each name that Claude Code’s SDK and Codex’ app-server declare, and what Liminal does with it. If a new version adds a name, a test fails until the name is in a table. [Agents](agents.md) explains what this means for users.

| word | meaning |
|---|---|
| used | Liminal calls it, answers it or acts on it |
| shown | people see its content |
| kept | stored unchanged in the session’s log, and shown by no client |
| passed by | received and dropped |
| not used | Liminal never requests it, or refuses it |
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
