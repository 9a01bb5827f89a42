import type { Page } from 'playwright-core';

/** Collects what a page of Liminal must never cause: errors, warnings, dialogs, and requests to other hosts. */
export function watchPage(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on('request', (request) => {
    if (!isOurs(request.url(), origin)) complaints.push(`foreign request: ${request.url()}`);
  });
  page.on('websocket', (socket) => {
    const ours = origin.replace(/^http/, 'ws');
    if (!socket.url().startsWith(`${ours}/`)) complaints.push(`foreign socket: ${socket.url()}`);
  });
  return complaints;
}

function isOurs(url: string, origin: string): boolean {
  return url.startsWith(`${origin}/`) || url.startsWith('data:') || url.startsWith('blob:');
}
