import type { Locator, Page } from 'playwright-core';

/** The session that is looked at: its conversation and its composer. */
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

  /** Why the first or the last turn failed. */
  failureOf(turn: 'first' | 'last'): Locator {
    const name =
      /^Something went wrong$|^The server restarted|is not signed in$|could not sign in$/;
    return this.turns[turn]().getByRole('group', { name });
  }

  /** What the person said, as shown. */
  get prompts(): Locator {
    return this.conversation.getByRole('article', { name: 'You' });
  }

  /** What the agent said. */
  get answers(): Locator {
    return this.conversation.getByRole('article', { name: 'Agent' });
  }

  get queue(): Locator {
    return this.page.getByRole('list', { name: 'Queued messages' });
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: 'Stop', exact: true });
  }

  /** The id of this session, from the address. */
  get id(): string {
    return decodeURIComponent(new URL(this.page.url()).pathname.split('/').at(-1) ?? '');
  }

  /** The card of a tool call, by what its line says: `Run npm test`. */
  tool(name: string | RegExp): Locator {
    return this.conversation.getByRole('group', { name });
  }

  /** The answers that a permission request offers. */
  permission(name: string | RegExp): Locator {
    return this.page.getByRole('group', { name });
  }

  async send(message: string): Promise<void> {
    await this.composer.fill(message);
    await this.composer.press('Enter');
  }

  /** Gives the permission that is asked for, when it is asked for. */
  async allow(): Promise<void> {
    const request = this.permission(/^Permission: /);
    await this.scrollRequest();
    await request.getByRole('button', { name: 'Allow', exact: true }).click();
  }

  /** Scrolls what is asked to its end, when it is asked: before that, nothing can be allowed. */
  async scrollRequest(): Promise<void> {
    const asked = this.page.getByRole('region', { name: 'What is asked' });
    await asked.evaluate((region) => region.scrollTo({ top: region.scrollHeight }));
  }

  /** Opens a card, unless it has opened itself. */
  async unfold(card: Locator): Promise<void> {
    const head = card.getByRole('button').first();
    if ((await head.getAttribute('aria-expanded')) === 'false') await head.click();
  }

  /** Chooses a value of one of the session's settings, and waits until it holds. */
  async choose(setting: string, value: string): Promise<void> {
    const select = this.page.getByRole('combobox', { name: setting });
    await select.click();
    await this.page.getByRole('option', { name: new RegExp(`^${value}`) }).click();
    // It shows at once; it holds when the agent has taken it.
    await select.and(this.page.locator(':not([data-waits="true"])')).getByText(value).waitFor();
  }

  /** Resolves when the agent's words hold `text`. */
  async untilSaid(text: string | RegExp): Promise<void> {
    await this.answers.filter({ hasText: text }).first().waitFor();
  }

  /** Resolves when `count` turns are there and the last one is over, however it ended. */
  async untilEnded(count: number): Promise<void> {
    await this.turns.nth(count - 1).waitFor();
    await this.turns
      .nth(count - 1)
      .and(this.page.locator('[data-settled="true"]'))
      .waitFor();
  }
}
