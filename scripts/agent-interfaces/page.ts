// docs/agent-interfaces.md, made from the rows.
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
Each name that the SDK of Claude Code declares, and each that Codex’ app-server declares, with what Liminal does with it. A version that adds a name fails a test until the name stands here.

| word | meaning |
|---|---|
| used | Liminal calls it, answers it or acts on it |
| shown | people see what it says |
| kept | it stays in the session’s log as it came, and no client shows it |
| passed by | it arrives, and is dropped |
| not used | Liminal never asks for it, or refuses it |
`;

export function interfacesPage(all: readonly Section[]): string {
  const parts = all.map(({ title, rows }) => {
    const lines = rows.map((row) => {
      const names = namesIn(row).map((name) => `\`${name}\``);
      return `| ${row[0]} | ${names.join(', ')} | ${row[2]} |`;
    });
    return [`## ${title}`, '| | names | |', '|---|---|---|', ...lines].join('\n');
  });
  return `${[intro.trim(), ...parts].join('\n\n')}\n`;
}
