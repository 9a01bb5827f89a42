import { Autocomplete } from '@base-ui/react/autocomplete';
import { findSession } from '@liminal/client';
import { useSessions } from '@liminal/client/react';
import { useAgent } from '../app/agents.tsx';
import { AgentMark } from '../app/AgentMark.tsx';
import { useNavigation } from '../app/navigation.tsx';
import type { Overlay } from '../app/overlay.ts';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import css from './Palette.module.css';
import { Snippet } from '../search/Snippet.tsx';
import { type HistorySearch, useHistorySearch } from '../search/use-history-search.ts';
import {
  type PaletteEntry,
  type EntryGroup,
  hitGroups,
  isFound,
  paletteGroups,
} from './palette-entries.ts';
import { SessionMark } from '../app/SessionMark.tsx';

interface PaletteProps {
  onClose: () => void;
  onOverlay: (overlay: Overlay) => void;
}

/** Finds sessions and commands by name, and conversations by the words in them. */
export default function Palette({ onClose, onOverlay }: PaletteProps) {
  const { projects } = useSessions();
  const navigation = useNavigation();
  const housekeeping = useHousekeeping();
  const [search, setSearch] = useState('');
  const history = useHistorySearch(search);
  const agent = useAgent(findSession(projects, navigation.active ?? '')?.cliType);
  const groups = [
    ...paletteGroups(projects, navigation, agent?.usesGrants === true),
    ...hitGroups(history.groups),
  ];

  const run = (entry: PaletteEntry) => {
    onClose();
    if (entry.kind === 'session') navigation.show(entry.session.sessionId);
    else if (entry.kind === 'hit') navigation.show(entry.sessionId, entry.hit.target, search);
    else if (entry.kind === 'action') housekeeping[entry.sessionAction](entry.session);
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
        value={search}
        onValueChange={setSearch}
        filter={isFound}
        itemToStringValue={(entry: PaletteEntry) => entry.text}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input
          className={css.input}
          aria-label="Search commands and sessions"
          placeholder="Search sessions and commands…"
          data-autofocus
        />
        <div className={css.scroll}>
          <Autocomplete.Empty className={css.empty}>
            {history.phase === 'idle' || history.phase === 'found' ? 'Nothing found.' : null}
          </Autocomplete.Empty>
          <Autocomplete.List className={css.list}>
            {(group: EntryGroup) => (
              <Autocomplete.Group key={group.value} items={group.items}>
                <Autocomplete.GroupLabel className={css.label}>
                  {group.value}
                </Autocomplete.GroupLabel>
                <Autocomplete.Collection>
                  {(entry: PaletteEntry) => (
                    <Autocomplete.Item
                      key={entry.key}
                      value={entry}
                      className={css.item}
                      onClick={() => run(entry)}
                    >
                      <EntryFace entry={entry} search={search} />
                    </Autocomplete.Item>
                  )}
                </Autocomplete.Collection>
              </Autocomplete.Group>
            )}
          </Autocomplete.List>
          <HistoryStatus search={history} />
        </div>
      </Autocomplete.Root>
    </Dialog>
  );
}

function EntryFace({ entry, search }: { entry: PaletteEntry; search: string }) {
  if (entry.kind === 'hit') {
    return (
      <>
        <span className={css.name}>
          <Snippet query={search}>{entry.name}</Snippet>
        </span>
        <AgentMark cliType={entry.cliType} />
        <bdi className={css.hint}>{entry.hint}</bdi>
      </>
    );
  }
  return (
    <>
      {entry.kind === 'session' && <SessionMark session={entry.session} />}
      <bdi className={css.name}>{entry.name}</bdi>
      {entry.kind === 'session' && <AgentMark cliType={entry.session.cliType} />}
      <span className={css.hint}>{entry.hint}</span>
    </>
  );
}

/** Shows the state of the search in conversations. Shows nothing if the results themselves show the state. */
function HistoryStatus({ search: { phase, problem, retry } }: { search: HistorySearch }) {
  if (phase === 'searching') {
    return (
      <p className={css.status} role="status">
        Searching conversations…
      </p>
    );
  }
  if (phase !== 'failed') return null;
  return (
    <div className={css.status} role="alert">
      The conversations could not be searched: {problem}
      <Button look="quiet" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}
