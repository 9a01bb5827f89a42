import type { AgentInfo } from '@liminal/protocol';
import { AgentMark } from '../app/AgentMark.tsx';
import { Button } from '../look/controls.tsx';
import form from '../look/form.module.css';
import { Advice } from '../look/Advice.tsx';
import css from './AgentChoice.module.css';

interface AgentChoiceProps {
  onCheck: () => void;
  agents: readonly AgentInfo[] | undefined;
  chosen: string | undefined;
  onChoose: (cliType: string) => void;
}

/** Agents that lack nothing come first, then those that can run; otherwise in their order. */
function byReadiness(a: AgentInfo, b: AgentInfo): number {
  const rank = ({ available, reason }: AgentInfo) =>
    Number(!available) + Number(reason !== undefined);
  return rank(a) - rank(b);
}

/** Brings the chosen agent into sight when the list is shown. */
function showChosen(input: HTMLInputElement | null): void {
  input?.closest('label')?.scrollIntoView({ block: 'nearest' });
}

/** The known agents; one that is not set up says why. */
export function AgentChoice({ agents, chosen, onChoose, onCheck }: AgentChoiceProps) {
  const isAnyMissing = agents?.some((agent) => agent.reason !== undefined) ?? false;
  return (
    <fieldset className={form.field}>
      <legend className={form.label}>Agent</legend>
      {agents === undefined && <p className={css.reason}>Checking agents…</p>}
      <div className={css.agents}>
        {agents?.toSorted(byReadiness).map((agent) => (
          <label key={agent.cliType} className={css.agent} data-available={agent.available}>
            <input
              ref={agent.cliType === chosen ? showChosen : undefined}
              type="radio"
              name="agent"
              value={agent.cliType}
              checked={agent.cliType === chosen}
              disabled={!agent.available}
              onChange={() => onChoose(agent.cliType)}
            />
            <span className={css.words}>
              <span className={css.name}>
                <AgentMark cliType={agent.cliType} isNamed />
                {agent.name}
                {agent.demo === true && <small>demo</small>}
                {agent.version !== undefined && <small>{agent.version}</small>}
                {!agent.available && <small className={css.missing}>not set up</small>}
              </span>
              <span className={css.description}>{agent.description}</span>
              {agent.reason !== undefined && (
                <Advice className={css.reason} text={agent.reason} canCopy={false} />
              )}
            </span>
          </label>
        ))}
      </div>
      {isAnyMissing && (
        <Button look="quiet" className={css.check} onClick={onCheck}>
          Check again
        </Button>
      )}
    </fieldset>
  );
}
