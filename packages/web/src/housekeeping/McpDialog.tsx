import { describeError } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { McpAction, McpServerState, SessionSummary } from '@liminal/protocol';
import { useEffect, useState } from 'react';
import { Button } from '../look/controls.tsx';
import { Dialog } from '../look/Dialog.tsx';
import form from '../look/form.module.css';
import { FormProblem } from '../look/FormProblem.tsx';
import { ShownText } from '../look/ShownText.tsx';
import spoken from '../look/spoken.module.css';
import { labelOf } from '../words/label.ts';
import { mcpStates } from './mcp-states.ts';
import css from './RowList.module.css';

interface McpDialogProps {
  session: SessionSummary;
  onClose: () => void;
}

/** Lists the MCP servers of a session's agent, with the actions on each server. */
export default function McpDialog({ session: { sessionId }, onClose }: McpDialogProps) {
  const { requests } = useClient();
  const [servers, setServers] = useState<readonly McpServerState[]>();
  const [problem, setProblem] = useState<string>();
  const [signIn, setSignIn] = useState<{ name: string; url: string }>();
  const [notice, setNotice] = useState('');

  useEffect(() => {
    let isShown = true;
    requests.mcpServers(sessionId).then(
      (found) => isShown && setServers(found.servers),
      (error: unknown) => isShown && setProblem(describeError(error).message),
    );
    return () => void (isShown = false);
  }, [requests, sessionId]);

  const look = async () => setServers((await requests.mcpServers(sessionId)).servers);
  const attempt = async (doing: () => Promise<void>) => {
    setProblem(undefined);
    try {
      await doing();
    } catch (error) {
      setProblem(describeError(error).message);
    }
  };
  const change = (name: string, action: McpAction) =>
    attempt(async () => {
      const { url } = await requests.changeMcpServer(sessionId, name, action);
      setSignIn(url === undefined ? undefined : { name, url });
      await look();
      setNotice(`${done[action]}: ${name}`);
    });

  return (
    <Dialog title="MCP servers" onClose={onClose}>
      <div className={form.form}>
        {servers === undefined && problem === undefined && <p role="status">Loading…</p>}
        {servers?.length === 0 && <p>This agent has no MCP servers.</p>}
        {servers !== undefined && servers.length > 0 && (
          <ServerList servers={servers} onChange={(name, action) => void change(name, action)} />
        )}
        {signIn !== undefined && (
          <p className={css.what}>
            <a href={signIn.url} target="_blank" rel="noopener noreferrer">
              Sign in to <ShownText text={signIn.name} />
            </a>
            , then choose Look again. The sign-in returns to an address of the server’s own machine.
          </p>
        )}
        <FormProblem text={problem} />
        <p className={spoken.only} role="status">
          {notice}
        </p>
        <div className={form.actions}>
          <Button onClick={() => void attempt(look)}>Look again</Button>
          <Button data-autofocus onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

interface ServerListProps {
  servers: readonly McpServerState[];
  onChange: (name: string, action: McpAction) => void;
}

function ServerList({ servers, onChange }: ServerListProps) {
  return (
    <ul className={css.rows}>
      {servers.map(({ name, state, tools, problem, actions }) => (
        <li key={name}>
          <span className={css.row}>
            <ShownText text={name} />
            <small>
              {mcpStates[state]}
              {tools !== undefined && `, ${tools} ${tools === 1 ? 'tool' : 'tools'}`}
              {problem !== undefined && (
                <>
                  {': '}
                  <ShownText text={problem} />
                </>
              )}
            </small>
          </span>
          <span>
            {actions.map((action) => (
              <Button
                key={action}
                aria-label={`${words[action]}: ${labelOf(name)}`}
                onClick={() => onChange(name, action)}
              >
                {words[action]}
              </Button>
            ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

const words: Record<McpAction, string> = {
  reconnect: 'Reconnect',
  on: 'Switch on',
  off: 'Switch off',
  'sign-in': 'Sign in',
};

const done: Record<McpAction, string> = {
  reconnect: 'Connecting anew',
  on: 'Switched on',
  off: 'Switched off',
  'sign-in': 'The page for the sign-in is there',
};
