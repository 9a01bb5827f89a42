/** Whether somebody in front of this machine would see a browser open. */
export function hasDesktop(env: NodeJS.ProcessEnv, platform = process.platform): boolean {
  if (env['CI'] || env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}

/** Never fails: the link is on the terminal too. */
export async function openInBrowser(url: string): Promise<void> {
  try {
    // Loaded only here: most servers run where there is no desktop.
    const { default: open } = await import('open');
    const opener = await open(url);
    opener.on('error', () => {});
  } catch {
    console.error('No browser could be opened: follow the link yourself.');
  }
}
