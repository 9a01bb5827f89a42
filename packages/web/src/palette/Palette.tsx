import { Autocomplete } from '@base-ui/react/autocomplete';
import { useSessions } from '@liminal/client/react';
import { AgentMark } from '../app/AgentMark.tsx';
import { useNavigation } from '../app/navigation.tsx';
import type { Overlay } from '../app/App.tsx';
import { Dialog } from '../look/Dialog.tsx';
import { StateMark } from '../look/StateMark.tsx';
import css from './Palette.module.css';
import { type Entry, paletteGroups } from './palette-entries.ts';

interface PaletteProps {
  onClose: () => void;
  onOverlay: (overlay: Overlay) => void;
}

interface EntryGroup {
  value: string;
  items: readonly Entry[];
}

/** Everything by its name: sessions and commands. */
export default function Palette({ onClose, onOverlay }: PaletteProps) {
  const { projects } = useSessions();
  const navigation = useNavigation();
  const groups = paletteGroups(projects, navigation);

  const run = (entry: Entry) => {
    onClose();
    if (entry.kind === 'session') navigation.open(entry.session.sessionId);
    else if (entry.action === 'close-tab') navigation.close(navigation.active ?? '');
    else if (entry.action === 'home') navigation.goHome();
    else onOverlay(entry.action);
  };

  return (
    <Dialog title="Commands" look="bare" onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        items={groups}
        itemToStringValue={(entry: Entry) => entry.text}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input
          className={css.input}
          aria-label="Search commands and sessions"
          placeholder="Go to a session, or do …"
          data-autofocus
        />
        <div className={css.scroll}>
          <Autocomplete.Empty className={css.empty}>Nothing found.</Autocomplete.Empty>
          <Autocomplete.List className={css.list}>
            {(group: EntryGroup) => (
              <Autocomplete.Group key={group.value} items={group.items}>
                <Autocomplete.GroupLabel className={css.label}>
                  {group.value}
                </Autocomplete.GroupLabel>
                <Autocomplete.Collection>
                  {(entry: Entry) => (
                    <Autocomplete.Item
                      key={entry.key}
                      value={entry}
                      className={css.item}
                      onClick={() => run(entry)}
                    >
                      {entry.kind === 'session' && <StateMark state={entry.session.state} />}
                      <span className={css.name}>{entry.name}</span>
                      {entry.kind === 'session' && <AgentMark cliType={entry.session.cliType} />}
                      <span className={css.hint}>{entry.hint}</span>
                    </Autocomplete.Item>
                  )}
                </Autocomplete.Collection>
              </Autocomplete.Group>
            )}
          </Autocomplete.List>
        </div>
      </Autocomplete.Root>
    </Dialog>
  );
}
