import { describeError, findSession } from '@liminal/client';
import { useClient } from '@liminal/client/react';
import type { SessionSummary, SetupKind } from '@liminal/protocol';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useNavigation } from '../app/navigation.tsx';
import { lazyComponent, onMissingPart } from '../look/lazy-component.tsx';
import { forgetDrafts } from '../storage/drafts.ts';
import { labelOf } from '../words/label.ts';

/** The actions on sessions, such as rename and archive. If an action fails, a toast shows the problem. */
export interface Housekeeping {
  /** Archives the session and closes its tab. A toast offers to undo both. */
  archive: (session: SessionSummary) => void;
  unarchive: (session: SessionSummary) => void;
  pin: (session: SessionSummary) => void;
  unpin: (session: SessionSummary) => void;
  /** Asks the person for another title. */
  showRename: (session: SessionSummary) => void;
  /** Shows the permissions that are granted for the session's project. */
  showGrants: (session: SessionSummary) => void;
  /** Shows the MCP servers of the session's agent. */
  showMcp: (session: SessionSummary) => void;
  /** Shows the folders that the session may use in addition to its project's folder. */
  showDirectories: (session: SessionSummary) => void;
  /** Shows the session's setup, and scrolls to one kind of setup first. */
  showSetup: (session: SessionSummary, kind?: SetupKind) => void;
  /** Shows how the session's work tree differs from the last commit. */
  showChanges: (session: SessionSummary) => void;
  /** Asks the session's model a question that does not become part of the conversation. */
  showAside: (session: SessionSummary, question: string) => void;
  /** Asks the person to confirm, and deletes the session. */
  delete: (session: SessionSummary) => void;
  /** Must be called when a session was deleted, on this page or elsewhere: closes the session's tab. */
  deleted: (sessionId: string) => void;
  /** Shows a short message about an action. */
  showToast: (text: string) => void;
}

/** A short message about an action. */
export interface Toast {
  text: string;
  /** Whether the message reports a failure. */
  isProblem?: boolean;
  undo?: () => void;
}

const HousekeepingContext = createContext<Housekeeping | undefined>(undefined);
const ToastContext = createContext<{ toast: Toast | undefined; dismiss: () => void }>({
  toast: undefined,
  dismiss: () => {},
});

// The code of these dialogs is fetched when a dialog is first opened.
const notLoaded: Toast = { text: 'Not loaded: the server is away.', isProblem: true };

const DeleteDialog = lazyComponent(() => import('./DeleteDialog.tsx'));
const ChangesDialog = lazyComponent(() => import('../diff/ChangesDialog.tsx'));
const AsideDialog = lazyComponent(() => import('./AsideDialog.tsx'));
const DirectoriesDialog = lazyComponent(() => import('./DirectoriesDialog.tsx'));
const GrantsDialog = lazyComponent(() => import('./GrantsDialog.tsx'));
const SetupDialog = lazyComponent(() => import('./SetupDialog.tsx'));
const RenameDialog = lazyComponent(() => import('./RenameDialog.tsx'));
const McpDialog = lazyComponent(() => import('./McpDialog.tsx'));

export function HousekeepingProvider({ children }: { children: ReactNode }) {
  const { requests, sessions } = useClient();
  const navigation = useNavigation();
  const places = useRef(navigation);
  useLayoutEffect(() => {
    places.current = navigation;
  });
  const [toast, setToast] = useState<Toast>();
  const [doomed, setDoomed] = useState<SessionSummary>();
  const [permitted, setPermitted] = useState<SessionSummary>();
  const [served, setServed] = useState<SessionSummary>();
  const [setUp, setSetUp] = useState<{ session: SessionSummary; kind?: SetupKind | undefined }>();
  const [changed, setChanged] = useState<SessionSummary>();
  const [asked, setAsked] = useState<{ session: SessionSummary; question: string }>();
  const [renamed, setRenamed] = useState<SessionSummary>();
  const [placed, setPlaced] = useState<SessionSummary>();
  const dismiss = useCallback(() => setToast(undefined), []);
  useEffect(
    () =>
      onMissingPart((isMissing) =>
        setToast((shown) => {
          if (isMissing) return notLoaded;
          return shown === notLoaded ? undefined : shown;
        }),
      ),
    [],
  );

  const housekeeping = useMemo<Housekeeping>(() => {
    const attempt = (doing: Promise<void>) =>
      doing.catch((error: unknown) =>
        setToast({ text: describeError(error).message, isProblem: true }),
      );
    const archive = async ({ sessionId, title }: SessionSummary) => {
      const wasShown = places.current.active === sessionId;
      await requests.archive(sessionId);
      places.current.close(sessionId);
      const undo = async () => {
        setToast(undefined);
        await requests.unarchive(sessionId);
        if (wasShown) places.current.show(sessionId);
      };
      setToast({ text: `Archived “${labelOf(title)}”.`, undo: () => void attempt(undo()) });
    };
    return {
      archive: (session) => void attempt(archive(session)),
      unarchive: ({ sessionId }) => void attempt(requests.unarchive(sessionId)),
      pin: ({ sessionId }) => void attempt(requests.pin(sessionId)),
      unpin: ({ sessionId }) => void attempt(requests.unpin(sessionId)),
      showRename: setRenamed,
      showToast: (text) => setToast({ text }),
      showGrants: setPermitted,
      showMcp: setServed,
      showDirectories: setPlaced,
      showChanges: setChanged,
      showAside: (session, question) => setAsked({ session, question }),
      showSetup: (session, kind) => setSetUp({ session, kind }),
      delete: setDoomed,
      deleted: (sessionId) => {
        forgetDrafts(sessionId);
        if (!places.current.tabs.includes(sessionId)) return;
        places.current.close(sessionId);
        const session = findSession(sessions.getSnapshot().projects, sessionId);
        setToast({
          text: session ? `“${labelOf(session.title)}” was deleted.` : 'The session was deleted.',
        });
      },
    };
  }, [requests, sessions]);

  useEffect(
    () =>
      sessions.removed.on((removed) => {
        for (const sessionId of removed) housekeeping.deleted(sessionId);
      }),
    [housekeeping, sessions],
  );

  const shown = useMemo(() => ({ toast, dismiss }), [toast, dismiss]);
  return (
    <HousekeepingContext value={housekeeping}>
      <ToastContext value={shown}>{children}</ToastContext>
      {doomed !== undefined && (
        <DeleteDialog
          session={doomed}
          onDeleted={housekeeping.deleted}
          onClose={() => setDoomed(undefined)}
        />
      )}
      {permitted !== undefined && (
        <GrantsDialog session={permitted} onClose={() => setPermitted(undefined)} />
      )}
      {setUp !== undefined && <SetupDialog {...setUp} onClose={() => setSetUp(undefined)} />}
      {changed !== undefined && (
        <ChangesDialog session={changed} onClose={() => setChanged(undefined)} />
      )}
      {asked !== undefined && <AsideDialog {...asked} onClose={() => setAsked(undefined)} />}
      {placed !== undefined && (
        <DirectoriesDialog session={placed} onClose={() => setPlaced(undefined)} />
      )}
      {renamed !== undefined && (
        <RenameDialog
          title={renamed.title}
          onRename={(title) => requests.rename(renamed.sessionId, title)}
          onClose={() => setRenamed(undefined)}
        />
      )}
      {served !== undefined && <McpDialog session={served} onClose={() => setServed(undefined)} />}
    </HousekeepingContext>
  );
}

export function useHousekeeping(): Housekeeping {
  const housekeeping = useContext(HousekeepingContext);
  if (housekeeping === undefined)
    throw new Error('useHousekeeping needs a HousekeepingProvider above it.');
  return housekeeping;
}

/** Returns the toast that is shown, and a function that removes it. */
export function useToast() {
  return useContext(ToastContext);
}
