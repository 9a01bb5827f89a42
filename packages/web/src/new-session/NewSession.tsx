import { describeError } from '@liminal/client';
import { useClient, useSessions } from '@liminal/client/react';
import { useEffect, useState } from 'react';
import { useAgents } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import { useDraft } from '../storage/drafts.ts';
import form from '../look/form.module.css';
import { LinkedText } from '../look/LinkedText.tsx';
import { AgentChoice } from './AgentChoice.tsx';
import { FolderField } from './FolderField.tsx';
import { FoldersBeside, nonBlankLines } from './FoldersBeside.tsx';

/** The key in the browser's storage under which the last choice is stored. */
const lastAgentKey = 'liminal.agent';

interface ProfileChoiceProps {
  profiles: readonly string[];
  /** The chosen profile; empty if none is chosen. */
  chosen: string;
  onChoose: (profile: string) => void;
}

/** A select of the agent's profiles. A profile is a set of settings that the agent itself stores under a name. */
function ProfileChoice({ profiles, chosen, onChoose }: ProfileChoiceProps) {
  return (
    <label className={form.field}>
      <span className={form.label}>Profile</span>
      <select
        className={form.input}
        value={profiles.includes(chosen) ? chosen : ''}
        onChange={(event) => onChoose(event.target.value)}
      >
        <option value="">None</option>
        {profiles.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/** The dialog that begins a session: the agent, the folder and the settings. */
export default function NewSession({ onClose }: { onClose: () => void }) {
  const { requests } = useClient();
  const { agents, refresh } = useAgents();
  const { projects } = useSessions();
  const { open } = useNavigation();
  const folders = projects.map((project) => project.projectDir);
  const [chosen, setChosen] = useState(() => localStorage.getItem(lastAgentKey) ?? undefined);
  const [typed, keepTyped] = useDraft('new-session');
  const [beside, keepBeside] = useDraft('new-session-folders');
  const [wanted, setWanted] = useState<string>();
  const folder = wanted ?? (typed || (folders[0] ?? ''));
  const [profile, setProfile] = useState('');
  const [problem, setProblem] = useState<string>();
  const [starting, setStarting] = useState(false);

  // Load the agents again, because some may have been installed or removed since the page was opened.
  useEffect(refresh, [refresh]);

  const usable = agents?.filter((agent) => agent.available) ?? [];
  // By default, choose an agent without a problem.
  const ready = usable.find((one) => one.reason === undefined) ?? usable[0];
  const agent = usable.find((one) => one.cliType === chosen) ?? ready;

  const profiles = agent?.profiles ?? [];
  const takesDirectories = agent?.takesDirectories === true;
  const additionalDirectories = takesDirectories ? nonBlankLines(beside) : [];

  const start = async () => {
    if (agent === undefined) return;
    setStarting(true);
    setProblem(undefined);
    try {
      const made = await requests.createSession({
        cliType: agent.cliType,
        projectDir: folder.trim(),
        ...(profiles.includes(profile) && { options: { configOptions: { profile } } }),
        ...(additionalDirectories.length > 0 && { additionalDirectories }),
      });
      localStorage.setItem(lastAgentKey, agent.cliType);
      keepTyped('');
      keepBeside('');
      open(made.sessionId);
      onClose();
    } catch (error) {
      setProblem(describeError(error).message);
      setStarting(false);
    }
  };

  return (
    <Dialog title="New session" onClose={onClose}>
      <form
        className={form.form}
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <AgentChoice
          agents={agents}
          chosen={agent?.cliType}
          onChoose={setChosen}
          onCheck={refresh}
        />
        <FolderField
          value={folder}
          onChange={(text) => {
            setWanted(text);
            keepTyped(text);
          }}
          recent={folders}
        />
        {profiles.length > 0 && (
          <ProfileChoice profiles={profiles} chosen={profile} onChoose={setProfile} />
        )}
        {takesDirectories && <FoldersBeside value={beside} onChange={keepBeside} />}
        {problem !== undefined && (
          <LinkedText className={form.problem} role="alert" text={problem} />
        )}
        <div className={form.actions}>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            disabled={agent === undefined || folder.trim() === '' || starting}
          >
            {starting ? 'Starting…' : 'Start'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
