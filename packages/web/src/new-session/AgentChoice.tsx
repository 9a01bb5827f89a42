import type { AgentInfo } from '@liminal/protocol';
import { AgentMark } from '../app/AgentMark.tsx';
import { Button } from '../look/controls.tsx';
import form from '../look/form.module.css';
import { Advice } from '../look/Advice.tsx';
import { Fold } from '../look/Fold.tsx';
import css from './AgentChoice.module.css';

interface AgentChoiceProps {
  onCheck: () => void;
  agents: readonly AgentInfo[] | undefined;
  chosen: string | undefined;
  onChoose: (cliType: string) => void;
}

/** Scrolls to the chosen agent when the list is first shown. */
function showChosen(input: HTMLInputElement | null): void {
  input?.closest('label')?.scrollIntoView({ block: 'nearest' });
}

/** Lists the known agents. Agents that are not set up are folded, with instructions for each. */
export function AgentChoice({ agents, chosen, onChoose, onCheck }: AgentChoiceProps) {
  const ready = agents?.filter(({ available, reason }) => available && reason === undefined) ?? [];
  const others = agents?.filter((agent) => !ready.includes(agent)) ?? [];
  // Agents that can be started come first.
  const missing = others.toSorted((a, b) => Number(b.available) - Number(a.available));
  const choiceOf = (agent: AgentInfo) => (
    <AgentOption
      key={agent.cliType}
      agent={agent}
      isChosen={agent.cliType === chosen}
      onChoose={onChoose}
    />
  );
  return (
    <fieldset className={form.field}>
      <legend className={form.label}>Agent</legend>
      {agents === undefined && <p className={css.reason}>Checking agents…</p>}
      <div className={css.agents}>
        {ready.map(choiceOf)}
        {missing.length > 0 && (
          <Fold
            summary={`Not set up: ${missing.map(({ name }) => name).join(', ')}`}
            isOpen={ready.length === 0 || missing.some(({ cliType }) => cliType === chosen)}
          >
            <div className={css.missing}>
              {missing.map(choiceOf)}
              <Button look="quiet" className={css.check} onClick={onCheck}>
                Check again
              </Button>
            </div>
          </Fold>
        )}
      </div>
    </fieldset>
  );
}

interface AgentOptionProps {
  agent: AgentInfo;
  isChosen: boolean;
  onChoose: (cliType: string) => void;
}

function AgentOption({ agent, isChosen, onChoose }: AgentOptionProps) {
  const { cliType, name, description, version, available, reason } = agent;
  return (
    <label className={css.agent} data-available={available}>
      <input
        ref={isChosen ? showChosen : undefined}
        type="radio"
        name="agent"
        value={cliType}
        checked={isChosen}
        disabled={!available}
        onChange={() => onChoose(cliType)}
      />
      <span className={css.words}>
        <span className={css.name}>
          <AgentMark cliType={cliType} isNamed />
          {name}
          {version !== undefined && <small>{version}</small>}
        </span>
        <span className={css.description}>{description}</span>
        {reason !== undefined && <Advice className={css.reason} text={reason} canCopy={false} />}
      </span>
    </label>
  );
}
