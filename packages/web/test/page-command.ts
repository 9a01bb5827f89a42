import type { Page } from 'playwright-core';

/**
 * Sends a message that may be a command of the page. Waits until the page knows the agent, whose name then stands in
 * the empty field: before, the page does not know which commands are its own.
 */
export async function sendCommand(page: Page, text: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true });
  await composer.and(page.getByPlaceholder(/^Message [A-Z]/)).waitFor();
  await composer.fill(text);
  await composer.press('Enter');
}
