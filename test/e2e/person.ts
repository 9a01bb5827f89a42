import { ServerMessage } from '@liminal/protocol';
import type { Locator, Page } from 'playwright-core';
import { SessionTab } from './session-tab.ts';
import { watchPage } from './watch-page.ts';

export interface NewSession {
  folder: string;
  /** The agent's name on the page. The default is Claude Code. */
  agent?: string;
}

/** A user in a browser. The user finds elements by their names. */
export class Person {
  readonly page: Page;
  /** The errors of the page, its failed requests, and its requests to other hosts. */
  readonly problems: string[];
  /** The messages that were sent and received over the page's WebSockets, in order. */
  readonly received: ServerMessage[] = [];

  constructor(page: Page, origin: string) {
    this.page = page;
    this.problems = watchPage(page, origin);
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => {
        this.received.push(ServerMessage.parse(JSON.parse(payload.toString())));
      });
    });
  }

  /** Returns the list of all sessions. */
  get sidebar(): Locator {
    return this.page.getByRole('navigation', { name: 'Sessions', exact: true });
  }

  get tabs(): Locator {
    return this.page.getByRole('navigation', { name: 'Open sessions' });
  }

  /** Begins a session with the dialog. */
  async startSession({ folder, agent = 'Claude Code' }: NewSession): Promise<SessionTab> {
    await this.sidebar.getByRole('button', { name: 'New session', exact: true }).click();
    const dialog = this.page.getByRole('dialog', { name: 'New session' });
    await dialog.getByRole('radio', { name: agent }).check();
    await dialog.getByRole('combobox', { name: 'Project folder' }).fill(folder);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.waitFor({ state: 'detached' });
    return this.session();
  }

  /** Opens a session that is in the sidebar, by the session's title. */
  async open(title: string): Promise<SessionTab> {
    await this.sidebar.getByRole('link', { name: title }).first().click();
    return this.session();
  }

  /** Returns the session that is shown. */
  async session(): Promise<SessionTab> {
    const tab = new SessionTab(this.page);
    await tab.composer.waitFor();
    return tab;
  }

  /** Ends the process of the shown session with the session's menu. */
  async endProcess(): Promise<void> {
    await this.page.getByRole('button', { name: 'Session', exact: true }).click();
    await this.page.getByRole('menuitem', { name: /^Stop the agent process/ }).click();
  }

  /** Asks an agent for the agent's own sessions. The agent is given by its name. */
  async lookForSessions(agent: string): Promise<void> {
    // While a page is still loading, it ignores keys.
    await this.sidebar.waitFor();
    await this.page.keyboard.press('Control+k');
    await this.page.getByRole('combobox', { name: 'Search commands' }).fill('Import sessions');
    await this.page.getByRole('option', { name: 'Import sessions from other tools' }).click();
    const dialog = this.page.getByRole('dialog', { name: 'Import sessions' });
    await dialog.getByRole('button', { name: `Import sessions of ${agent}` }).click();
    await dialog.getByText(/found\.$/).waitFor();
    await this.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }

  /** Closes all sessions that are open on the page. */
  async closeTabs(): Promise<void> {
    const links = this.tabs.getByRole('link');
    for (let left = await links.count(); left > 0; left -= 1) {
      await this.page.keyboard.press('Alt+w');
      await links.nth(left - 1).waitFor({ state: 'detached' });
    }
  }

  /** Returns to the page as from another window. */
  async lookAgain(): Promise<void> {
    await this.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  }

  async leave(): Promise<void> {
    await this.page.context().close();
  }
}
