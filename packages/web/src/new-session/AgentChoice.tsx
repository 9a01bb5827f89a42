import type { AgentInfo } from '@liminal/protocol';
import form from '../look/form.module.css';
import css from './AgentChoice.module.css';

interface AgentChoiceProps {
  agents: readonly AgentInfo[] | undefined;
  chosen: string | undefined;
  onChoose: (cliType: string) => void;
}

/** The agents there are; one that cannot run here says why. */
export function AgentChoice({ agents, chosen, onChoose }: AgentChoiceProps) {
  return (
    <fieldset className={form.field}>
      <legend className={form.label}>Agent</legend>
      {agents === undefined && <p className={css.reason}>Asking which agents can run here …</p>}
      <div className={css.agents}>
        {agents?.map((agent) => (
          <label key={agent.cliType} className={css.agent} data-available={agent.available}>
            <input
              type="radio"
              name="agent"
              value={agent.cliType}
              checked={agent.cliType === chosen}
              disabled={!agent.available}
              onChange={() => onChoose(agent.cliType)}
            />
            <span className={css.words}>
              <span className={css.name}>
                {agent.name}
                {agent.demo === true && <small>demo</small>}
                {agent.version !== undefined && <small>{agent.version}</small>}
              </span>
              <span className={css.description}>{agent.description}</span>
              {agent.reason !== undefined && <span className={css.reason}>{agent.reason}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
