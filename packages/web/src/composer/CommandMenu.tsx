import type { AgentCommand } from '@liminal/protocol';
import { CompletionMenu } from '../completion/CompletionMenu.tsx';
import type { Completion } from '../completion/use-completion.ts';
import css from './CommandMenu.module.css';

/** Lists the slash commands that match the typed text. */
export function CommandMenu({ completion }: { completion: Completion<AgentCommand> }) {
  return (
    <CompletionMenu
      completion={completion}
      name="Commands"
      show={({ name, hint, description }) => ({
        key: name,
        content: (
          <>
            <span className={css.name}>
              /{name} {hint !== undefined && <span>{hint}</span>}
            </span>
            <span className={css.description}>{description}</span>
          </>
        ),
      })}
    />
  );
}
