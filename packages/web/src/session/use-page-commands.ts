import type { SessionView, TurnView } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import {
  type ConfigOption,
  type RewindScope,
  type SessionInfo,
  type SessionSummary,
  takenBack,
} from '@liminal/protocol';
import { useMemo } from 'react';
import { useAgent } from '../app/agents.tsx';
import { useNavigation } from '../app/navigation.tsx';
import { useOverlay } from '../app/overlay.ts';
import { useFork } from '../app/use-fork.ts';
import { openSetting } from '../composer/open-setting.ts';
import { useHousekeeping } from '../housekeeping/housekeeping.tsx';
import { saveExport } from '../housekeeping/save-export.ts';
import { writeClipboard } from '../look/use-copy.ts';
import { answerText, hasAnswer } from '../transcript/answer-text.ts';
import {
  type SessionCommand,
  isSessionCommand,
  pageCommandIn,
  withPageCommands,
} from './page-commands.ts';

interface PageCommandsOptions {
  view: SessionView;
  /** Runs a request. If the request fails, the page shows why. */
  attempt: (doing: Promise<unknown>) => Promise<void>;
  askRewind: (turnId: string, scope: RewindScope) => void;
  send: (message: string) => void;
}

/**
 * Returns the session's info with the page's commands added, and a function that runs a message if the message is a
 * page command.
 */
export function usePageCommands(options: PageCommandsOptions) {
  const { view, attempt } = options;
  const { info } = view;
  const { requests } = useClient();
  const { showAside, showChanges, showDirectories, showMcp, showSetup } = useHousekeeping();
  const session = info?.session;
  const agent = useAgent(session?.cliType);
  const offered = useMemo(
    () => info && { ...info, commands: withPageCommands(info.commands, agent) },
    [agent, info],
  );
  const runSessionCommand = useSessionCommands(options);
  /** Runs the message if it is a page command. Returns whether it is one. */
  const run = (message: string): boolean => {
    const found = pageCommandIn(message, agent, info?.commands ?? []);
    if (found === undefined || session === undefined) return false;
    const { command, words } = found;
    const add = async () => {
      const changed = await requests.changeDirectories(session.sessionId, { add: [words] });
      showDirectories({ ...session, ...changed });
    };
    if (isSessionCommand(command)) runSessionCommand[command](session, words);
    else if (command === 'mcp') showMcp(session);
    else if (command === 'aside') showAside(session, words);
    else if (command === 'changes') showChanges(session);
    else if (command === 'status') showSetup(session);
    else if (command !== 'directories') showSetup(session, command);
    else if (words === '') showDirectories(session);
    else void attempt(add());
    return true;
  };
  return { offered, run };
}

/** Returns the action of each command. The action receives the words after the command. */
function useSessionCommands({
  view,
  attempt,
  askRewind,
  send,
}: PageCommandsOptions): Record<SessionCommand, (session: SessionSummary, words: string) => void> {
  const { requests } = useClient();
  const { close } = useNavigation();
  const { archive, delete: remove, showToast, showRename } = useHousekeeping();
  const fork = useFork();
  const open = useOverlay();
  /** Sets a setting to the value with this name. If no value has this name, opens the setting's select. */
  const choose = ({ sessionId }: SessionSummary, id: string, words: string): void => {
    const value = valueNamed(view.info, id, words);
    if (value === undefined) openSetting(id);
    else void attempt(requests.setConfig(sessionId, id, value));
  };
  const copy = async (): Promise<void> => {
    const turn = view.turns.findLast(hasAnswer);
    if (turn === undefined) return showToast('There is no answer to copy yet.');
    const isCopied = await writeClipboard(answerText(turn));
    showToast(isCopied ? 'Copied the last answer.' : 'The browser does not let the page copy.');
  };
  return {
    approvals: (session, words) => choose(session, 'mode', words),
    archive,
    close: ({ sessionId }) => close(sessionId),
    copy: () => void copy(),
    delete: remove,
    export: ({ sessionId }) => void attempt(saveExport(requests, sessionId)),
    fork: ({ sessionId }) => void attempt(fork(sessionId)),
    keys: () => open('keys'),
    model: (session, words) => choose(session, 'model', words),
    new: () => open('new-session'),
    plan: ({ sessionId }, words) => {
      const plan = async (): Promise<void> => {
        await requests.setConfig(sessionId, 'mode', 'plan');
        if (words !== '') send(words);
      };
      void attempt(plan());
    },
    rename: (session, words) => {
      if (words === '') showRename(session);
      else void attempt(requests.rename(session.sessionId, words));
    },
    resume: () => open('palette'),
    rewind: () => {
      const turn = lastAsked(view.turns);
      if (turn === undefined) showToast('There is no message to go back to.');
      else askRewind(turn.turnId, 'conversation');
    },
    speed: (session, words) => choose(session, speedOf(view.info)?.id ?? 'speed', words),
    work: (session, words) => choose(session, 'collaboration_mode', words),
  };
}

/** Returns the newest turn that began with a person's message and was not taken back. */
function lastAsked(turns: readonly TurnView[]): TurnView | undefined {
  const gone = takenBack(turns);
  const isAsked = (item: TurnView['items'][number]): boolean =>
    item.type === 'message' && item.origin === 'user';
  return turns.findLast(({ turnId, items }) => !gone.has(turnId) && items.some(isAsked));
}

const speedOf = (info: SessionInfo | undefined): ConfigOption | undefined =>
  info?.configOptions.find(({ category }) => category === 'speed');

/** Returns the value of a setting whose name or id is `words`. */
function valueNamed(info: SessionInfo | undefined, id: string, words: string): string | undefined {
  const sought = words.toLowerCase();
  const { options = [] } = info?.configOptions.find((one) => one.id === id) ?? {};
  const isIt = (text: string): boolean => text.toLowerCase() === sought;
  return options.find(({ value, name }) => isIt(value) || isIt(name))?.value;
}
