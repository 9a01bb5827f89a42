import { describeError } from '@liminal/client';
import { useClient, useSession } from '@liminal/client/react';
import type {
  McpServerState,
  SessionInfo,
  SessionSetup,
  SessionSummary,
  SetupKind,
} from '@liminal/protocol';
import { useEffect, useRef, useState } from 'react';
import { useAgent } from '../app/agents.tsx';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import { mcpStates } from './mcp-states.ts';
import css from './RowList.module.css';

interface SetupDialogProps {
  session: SessionSummary;
  /** The kind of setup to which the dialog scrolls first. */
  kind?: SetupKind | undefined;
  onClose: () => void;
}

/** Shows a session's setup: facts about its agent, permission rules, hooks, skills, plugins and memory files. */
export default function SetupDialog({ session, kind, onClose }: SetupDialogProps) {
  const { sessionId, cliType } = session;
  const { requests } = useClient();
  const { info } = useSession(sessionId).view;
  const managesMcp = useAgent(cliType)?.managesMcp === true;
  const [setup, setSetup] = useState<SessionSetup>();
  const [servers, setServers] = useState<readonly McpServerState[]>([]);
  const [problem, setProblem] = useState<string>();
  const first = useRef<HTMLElement>(null);

  useEffect(() => {
    let isShown = true;
    const failed = (error: unknown) => isShown && setProblem(describeError(error).message);
    requests.setup(sessionId).then((found) => isShown && setSetup(found), failed);
    if (managesMcp) {
      requests.mcpServers(sessionId).then((found) => isShown && setServers(found.servers), failed);
    }
    return () => void (isShown = false);
  }, [managesMcp, requests, sessionId]);
  useEffect(() => {
    if (setup !== undefined) first.current?.scrollIntoView({ block: 'start' });
  }, [setup]);

  return (
    <Dialog title="Status and setup" onClose={onClose}>
      <div className={form.form}>
        {setup === undefined && problem === undefined && <p role="status">Loading…</p>}
        {setup !== undefined && (
          <>
            <Facts facts={[...setup.facts, ...sessionFacts(info, servers)]} />
            {setup.parts.map((part) => (
              <section
                key={part.kind}
                aria-label={titles[part.kind]}
                ref={part.kind === kind ? first : undefined}
              >
                <SetupPart {...part} />
              </section>
            ))}
          </>
        )}
        <FormProblem text={problem} />
        <div className={form.actions}>
          <Button data-autofocus onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** Returns the facts about the session that the page knows without asking the agent. */
function sessionFacts(
  info: SessionInfo | undefined,
  servers: readonly McpServerState[],
): SessionSetup['facts'] {
  const { configOptions = [], limits = [] } = info ?? {};
  const settings = configOptions.map(({ name, currentValue, options }) => ({
    name,
    value: options.find(({ value }) => value === currentValue)?.name ?? currentValue,
  }));
  const used = limits.flatMap(({ name, usedPercent }) =>
    usedPercent === undefined ? [] : [{ name, value: `${Math.round(usedPercent)} % used` }],
  );
  const mcp = servers.map(({ name, state }) => ({
    name: `MCP server ${name}`,
    value: mcpStates[state],
  }));
  return [...settings, ...mcp, ...used];
}

function Facts({ facts }: Pick<SessionSetup, 'facts'>) {
  return (
    <ul className={css.rows} aria-label="Status">
      {facts.map(({ name, value }, index) => (
        <li key={index}>
          <span>
            <ShownText text={name} />
          </span>
          <span className={css.row}>
            <ShownText text={value} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function SetupPart({ kind, entries }: SessionSetup['parts'][number]) {
  return (
    <>
      <h3>{titles[kind]}</h3>
      {entries.length === 0 ? (
        <p>None.</p>
      ) : (
        <ul className={css.rows}>
          {entries.map(({ name, detail, source, isOff }, index) => (
            <li key={index}>
              <span className={css.row}>
                <ShownText text={name} />
                {detail !== undefined && (
                  <small>
                    <ShownText text={detail} />
                  </small>
                )}
                {source !== undefined && (
                  <small>
                    <ShownText text={source} />
                  </small>
                )}
              </span>
              {isOff === true && <small>Not in force</small>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const titles: Record<SetupKind, string> = {
  permissions: 'Permission rules',
  hooks: 'Hooks',
  skills: 'Skills',
  plugins: 'Plugins',
  memory: 'Memory files',
};
