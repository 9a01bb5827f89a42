import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** The session that the page shows, with its conversation and its message field. */
export class SessionTab {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  get conversation(): Locator {
    return this.page.getByRole('log', { name: 'Conversation' });
  }

  get composer(): Locator {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  get turns(): Locator {
    return this.conversation.getByRole('region', { name: 'Turn' });
  }

  get lastTurn(): Locator {
    return this.turns.last();
  }

  /** Returns the reason why the first or the last turn failed. */
  failureOf(turn: 'first' | 'last'): Locator {
    const name =
      /^Something went wrong$|^The server restarted|is not signed in$|could not sign in$/;
    return this.turns[turn]().getByRole('group', { name });
  }

  /** Returns the user's messages as they are shown. */
  get prompts(): Locator {
    return this.conversation.getByRole('article', { name: 'You' });
  }

  /** The agent's messages. */
  get answers(): Locator {
    return this.conversation.getByRole('article', { name: 'Agent' });
  }

  get queue(): Locator {
    return this.page.getByRole('list', { name: 'Queued messages' });
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: 'Stop', exact: true });
  }

  /** Returns the id of this session, which is in the page's address. */
  get id(): string {
    return decodeURIComponent(new URL(this.page.url()).pathname.split('/').at(-1) ?? '');
  }

  /** Returns the card of a tool call. The card is found by the text of its line, for example `Run npm test`. */
  tool(name: string | RegExp): Locator {
    return this.conversation.getByRole('group', { name });
  }

  /** Returns a permission request, by its name. */
  permission(name: string | RegExp): Locator {
    return this.page.getByRole('group', { name });
  }

  async send(message: string): Promise<void> {
    await this.composer.fill(message);
    await this.composer.press('Enter');
  }

  /** Allows the permission request when it appears. */
  async allow(): Promise<void> {
    const request = this.permission(/^Permission: /);
    await this.scrollRequest();
    await request.getByRole('button', { name: 'Allow', exact: true }).click();
  }

  /**
   * When the permission request appears, scrolls it to its end. Before that, the page does not allow the request to be
   * answered with allow.
   */
  async scrollRequest(): Promise<void> {
    const asked = this.page.getByRole('region', { name: 'What is asked' });
    const dock = this.page.getByRole('region', { name: 'Waiting for you' });
    const rest = dock.getByRole('button', { name: /^Show (?:all|more)$/ });
    // Repeat, because the request grows while the page renders it.
    await expect
      .poll(async () => {
        await asked.evaluate((region) => region.scrollTo({ top: region.scrollHeight }));
        return rest.count();
      })
      .toBe(0);
  }

  /** Opens a card, unless the card has opened automatically. */
  async unfold(card: Locator): Promise<void> {
    const head = card.getByRole('button').first();
    // Repeat, because the click closes a card that opens itself at the same moment.
    await expect
      .poll(async () => {
        if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
        return head.getAttribute('aria-expanded');
      })
      .toBe('true');
  }

  /** Chooses a value for one of the session's settings. Waits until the agent has received the value. */
  async choose(setting: string, value: string): Promise<void> {
    const select = this.page.getByRole('combobox', { name: setting });
    await select.click();
    await this.page.getByRole('option', { name: new RegExp(`^${value}`) }).click();
    // The page shows the value at once. When the mark disappears, the agent has received the value.
    await select.and(this.page.locator(':not([data-waits="true"])')).getByText(value).waitFor();
  }

  /** Resolves when the agent's messages contain `text`. */
  async untilAnswer(text: string | RegExp): Promise<void> {
    await this.answers.filter({ hasText: text }).first().waitFor();
  }

  /** Resolves when there are `count` turns and the last turn has ended, whatever its outcome. */
  async untilEnded(count: number): Promise<void> {
    await this.turns.nth(count - 1).waitFor();
    await this.turns
      .nth(count - 1)
      .and(this.page.locator('[data-settled="true"]'))
      .waitFor();
  }
}
