import { useClient, useSessions } from '@liminal/client/react';
import { Activity, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { focusComposer } from '../composer/focus-composer.ts';
import { ToastShelf } from '../housekeeping/ToastShelf.tsx';
import { Dialog } from '../look/Dialog.tsx';
import { lazyComponent } from '../look/lazy-component.tsx';
import { SessionComing } from '../session/SessionStates.tsx';
import { needingYou } from '../sidebar/session-groups.ts';
import { Sidebar } from '../sidebar/Sidebar.tsx';
import { SidebarEdge } from '../sidebar/SidebarEdge.tsx';
import { TabBar } from '../tabs/TabBar.tsx';
import { setHome } from '../words/paths.ts';
import css from './App.module.css';
import { Announcer } from './Announcer.tsx';
import { ConnectionNotice } from './ConnectionNotice.tsx';
import { Home } from './Home.tsx';
import { useNavigation } from './navigation.tsx';
import { type Overlay, OverlayContext } from './overlay.ts';
import { SkipLinks } from './SkipLinks.tsx';
import { useDocumentMark } from './use-document-mark.ts';
import { useFocusKeeper } from './use-focus-keeper.ts';
import { useMountedTabs } from './use-mounted-tabs.ts';
import { useIsNarrow, useSidebar } from './use-sidebar.ts';
import { useUnseenSessions } from './use-unseen.ts';
import { type Shortcuts, useShortcuts } from './use-shortcuts.ts';

// The code of this page is fetched when a session is first opened.
const SessionPage = lazyComponent(
  () => import('../session/SessionPage.tsx'),
  () => <SessionComing />,
);
const NewSession = lazyComponent(() => import('../new-session/NewSession.tsx'));
const Palette = lazyComponent(() => import('../palette/Palette.tsx'));
const AgentSessions = lazyComponent(() => import('../agent-sessions/AgentSessions.tsx'));
const KeyboardHelp = lazyComponent(() => import('./KeyboardHelp.tsx'));

export function App() {
  const { projects, phase } = useSessions();
  const { tabs, active } = useNavigation();
  const [overlay, setOverlay] = useState<Overlay>();
  const [isSideShown, toggleSide] = useSidebar();
  const isNarrow = useIsNarrow();
  const home = projects.find(({ homeDir }) => homeDir !== undefined)?.homeDir;
  // Set the home folder before any path is rendered.
  if (home !== undefined) setHome(home);
  const mountedTabs = useMountedTabs(tabs, active);
  useUnseenSessions(projects, phase === 'ready', active);
  useDocumentMark(projects, active);
  useReleaseClosed(tabs);
  useFocusKeeper();
  useKeepPage();
  const showSide = useCallback(
    () => (isNarrow ? setOverlay('sidebar') : toggleSide()),
    [isNarrow, toggleSide],
  );
  useAppShortcuts(setOverlay, showSide);

  const close = () => setOverlay(undefined);
  // A wide window shows the sidebar beside the page, so the drawer with the sidebar is closed.
  if (overlay === 'sidebar' && !isNarrow) close();
  const sidebar = {
    onNew: () => setOverlay('new-session'),
    onKeys: () => setOverlay('keys'),
  };
  return (
    <div className={css.app} data-side={isSideShown}>
      <SkipLinks hasSession={active !== undefined} />
      <Announcer />
      <div className={css.side}>
        {isSideShown && !isNarrow && (
          <>
            <Sidebar {...sidebar}>
              <SidebarEdge />
            </Sidebar>
            <ToastShelf />
          </>
        )}
      </div>
      <div className={css.main}>
        <TabBar
          onNew={sidebar.onNew}
          onPalette={() => setOverlay('palette')}
          onSidebar={showSide}
        />
        <ConnectionNotice />
        {(isNarrow || !isSideShown) && overlay !== 'sidebar' && <ToastShelf />}
        {active === undefined && <Home onNew={sidebar.onNew} />}
        <OverlayContext value={setOverlay}>
          {mountedTabs.map((sessionId) => (
            <Activity key={sessionId} mode={sessionId === active ? 'visible' : 'hidden'}>
              <SessionPage sessionId={sessionId} />
            </Activity>
          ))}
        </OverlayContext>
      </div>
      {overlay === 'sidebar' && (
        <Dialog title="Sessions" look="drawer" onClose={close}>
          <Sidebar {...sidebar} onFollow={close} />
          {/* The toasts must be inside the drawer, because nothing behind the drawer can be pressed. */}
          <ToastShelf />
        </Dialog>
      )}
      {overlay === 'new-session' && <NewSession onClose={close} />}
      {overlay === 'palette' && <Palette onClose={close} onOverlay={setOverlay} />}
      {overlay === 'agent-sessions' && <AgentSessions onClose={close} />}
      {overlay === 'keys' && <KeyboardHelp onClose={close} />}
    </div>
  );
}

/** Ignores dropped files that no session accepts: otherwise the browser would open such a file in place of the page. */
function useKeepPage(): void {
  useEffect(() => {
    const keep = (event: DragEvent) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    };
    // These listeners are on the window, so that they run after the session's listeners on the document.
    window.addEventListener('dragover', keep);
    window.addEventListener('drop', keep);
    return () => {
      window.removeEventListener('dragover', keep);
      window.removeEventListener('drop', keep);
    };
  }, []);
}

/** Stops following the sessions whose tabs were closed. */
function useReleaseClosed(tabs: readonly string[]): void {
  const client = useClient();
  const followed = useRef(tabs);
  useEffect(() => {
    for (const sessionId of followed.current) {
      if (!tabs.includes(sessionId)) client.release(sessionId);
    }
    followed.current = tabs;
  }, [client, tabs]);
}

function useAppShortcuts(setOverlay: (overlay: Overlay) => void, sidebar: () => void): void {
  const { projects } = useSessions();
  const { tabs, active, show, close } = useNavigation();
  const shortcuts = useMemo<Shortcuts>(() => {
    const goTo = (sessionId: string | undefined) => {
      if (sessionId !== undefined) show(sessionId);
    };
    return {
      palette: () => setOverlay('palette'),
      sidebar,
      newSession: () => setOverlay('new-session'),
      help: () => setOverlay('keys'),
      closeTab: () => {
        if (active !== undefined) close(active);
      },
      goToTab: (index) => goTo(tabs[index]),
      stepTab: (step) => goTo(tabs.at((tabs.indexOf(active ?? '') + step) % tabs.length)),
      nextWaiting: () => {
        const waiting = needingYou(projects).map((session) => session.sessionId);
        goTo(waiting[(waiting.indexOf(active ?? '') + 1) % waiting.length]);
      },
      compose: focusComposer,
    };
  }, [active, close, projects, setOverlay, show, sidebar, tabs]);
  useShortcuts(shortcuts);
}
