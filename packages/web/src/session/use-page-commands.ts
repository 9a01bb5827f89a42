import { useClient } from '@liminal/client/react';
import type { SessionInfo } from '@liminal/protocol';
import { useMemo } from 'react';
import { useAgent } from '../app/agents.tsx';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { pageCommandIn, withPageCommands } from './page-commands.ts';

/** The session with the commands of the page among its own, and a function that carries out a message that is one. */
export function usePageCommands(
  info: SessionInfo | undefined,
  attempt: (doing: Promise<unknown>) => Promise<void>,
) {
  const { requests } = useClient();
  const { showAside, showChanges, showDirectories, showMcp, showSetup } = useHousekeeping();
  const session = info?.session;
  const agent = useAgent(session?.cliType);
  const offered = useMemo(
    () => info && { ...info, commands: withPageCommands(info.commands, agent) },
    [agent, info],
  );
  /** Returns whether the message is such a command. */
  const run = (message: string): boolean => {
    const command = pageCommandIn(message, agent, info?.commands);
    if (command === undefined || session === undefined) return false;
    const { shows, words } = command;
    const add = async () => {
      const changed = await requests.changeDirectories(session.sessionId, { add: [words] });
      showDirectories({ ...session, ...changed });
    };
    if (shows === 'mcp') showMcp(session);
    else if (shows === 'aside') showAside(session, words);
    else if (shows === 'changes') showChanges(session);
    else if (shows === 'status') showSetup(session);
    else if (shows !== 'directories') showSetup(session, shows);
    else if (words === '') showDirectories(session);
    else void attempt(add());
    return true;
  };
  return { offered, run };
}
