import type { AgentCommand } from '@liminal/protocol';
import { useEffect, useRef } from 'react';
import css from './CommandMenu.module.css';

interface CommandMenuProps {
  id: string;
  commands: readonly AgentCommand[];
  active: number;
  onPick: (command: AgentCommand) => void;
}

/** Slash commands above the composer. The focus stays in the text; `active` is what Enter takes. */
export function CommandMenu({ id, commands, active, onPick }: CommandMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div className={css.menu} id={id} role="listbox" aria-label="Commands" ref={list}>
      {commands.map((command, index) => (
        // The keyboard reaches it through the text field.
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
        <div
          key={command.name}
          id={`${id}-${index}`}
          className={css.command}
          role="option"
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(command)}
        >
          <span className={css.name}>
            /{command.name} {command.hint !== undefined && <span>{command.hint}</span>}
          </span>
          <span className={css.description}>{command.description}</span>
        </div>
      ))}
    </div>
  );
}
