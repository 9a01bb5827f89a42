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
import { renewPageAfterUpgrade } from './app/renew-page.ts';
import { HousekeepingProvider } from './housekeeping/housekeeping.tsx';
import { browserFiles } from './kept/browser-files.ts';
import { browserOutbox } from './kept/browser-outbox.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element with the id "root".');

/** Stored by signing in. Without it the server refuses every request. */
function signInKey(): string | undefined {
  try {
    return localStorage.getItem('liminal:key') ?? undefined;
  } catch {
    return undefined;
  }
}

renewPageAfterUpgrade();
const client = createClient({
  outbox: browserOutbox(),
  files: browserFiles(),
  key: signInKey,
});
createRoot(root).render(
  <StrictMode>
    <ClientProvider value={client}>
      <AgentsProvider>
        <NavigationProvider>
          <PageGuard>
            <HousekeepingProvider>
              <App />
            </HousekeepingProvider>
          </PageGuard>
        </NavigationProvider>
      </AgentsProvider>
    </ClientProvider>
  </StrictMode>,
);
