import './look/tokens.css';
import './look/base.css';
import { createClient } from '@liminal/client';
import { ClientProvider } from '@liminal/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AgentsProvider } from './app/agents.tsx';
import { App } from './app/App.tsx';
import { NavigationProvider } from './app/navigation.tsx';
import { PageGuard } from './app/PageGuard.tsx';
import { replayedSession } from './app/tab-state.ts';
import { leaveKeysToInputMethods } from './app/typing.ts';
import { HousekeepingProvider } from './housekeeping/housekeeping.tsx';
import { browserFiles } from './storage/browser-files.ts';
import { browserOutbox } from './storage/browser-outbox.ts';
import { lazyComponent } from './look/lazy-component.tsx';

// The code of the replay is fetched when a replay is opened.
const ReplayPage = lazyComponent(() => import('./replay/ReplayPage.tsx'));

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element with the id "root".');

/** Returns the key that was stored at sign-in. Without a key, the server refuses every request. */
function signInKey(): string | undefined {
  try {
    return localStorage.getItem('liminal:key') ?? undefined;
  } catch {
    return undefined;
  }
}

leaveKeysToInputMethods();
const replayed = replayedSession(location);
const client = createClient({
  ...(replayed === undefined && { outbox: browserOutbox(), files: browserFiles() }),
  isLive: replayed === undefined,
  runCommands: true,
  key: signInKey,
});
createRoot(root).render(
  <StrictMode>
    <ClientProvider value={client}>
      {replayed === undefined ? (
        <LiveApp />
      ) : (
        <PageGuard>
          <ReplayPage sessionId={replayed} />
        </PageGuard>
      )}
    </ClientProvider>
  </StrictMode>,
);

function LiveApp() {
  return (
    <AgentsProvider>
      <NavigationProvider>
        <PageGuard>
          <HousekeepingProvider>
            <App />
          </HousekeepingProvider>
        </PageGuard>
      </NavigationProvider>
    </AgentsProvider>
  );
}
