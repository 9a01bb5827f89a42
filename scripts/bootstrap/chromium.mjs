import { execFileSync } from 'node:child_process';
import { canInstall, installPackages } from './apt.mjs';
import { isProgram, onPath } from './programs.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const places = [
  '/usr/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The package of Debian's Chromium without a window: the same engine as Chromium, but it shows a page in half the time.
 */
const shell = 'chromium-headless-shell';

/**
 * Resolves with the browser for the page's own tests: the Chromium without a window if it is installed or can be
 * installed, otherwise the complete Chromium.
 * @param {string} whole - The path of the complete Chromium, as `chromium()` returns it.
 * @returns {Promise<string>} The path of the browser's program.
 */
export async function headlessShell(whole) {
  const { env } = process;
  // If CHROMIUM_PATH contains the path of a program, use that program.
  if (env.CHROMIUM_PATH) return whole;
  if (onPath(shell, env) === undefined && canInstall()) {
    await installPackages([shell]).catch(() => undefined);
  }
  return onPath(shell, env) ?? whole;
}

/**
 * Resolves with the Chromium for the browser tests. Installs Chromium if nobody must consent.
 * @returns {Promise<string>} The path of Chromium's program.
 */
export async function chromium() {
  const found = findChromium(process.env);
  if (found !== undefined) return found;
  if (canInstall()) {
    const installed = await installChromium();
    if (installed !== undefined) return installed;
  }
  throw new Error(
    'The browser tests need Chromium, which is not installed. Install it (on Debian: ' +
      '"sudo apt-get install chromium"; on macOS: "brew install --cask chromium"), or name a ' +
      'Chromium or Chrome program in CHROMIUM_PATH, then run npm test again.',
  );
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function findChromium(env) {
  if (env.CHROMIUM_PATH) {
    if (isProgram(env.CHROMIUM_PATH)) return env.CHROMIUM_PATH;
    throw new Error(`CHROMIUM_PATH is ${env.CHROMIUM_PATH}, which is not a program.`);
  }
  return places.find(isProgram) ?? names.map((name) => onPath(name, env)).find(Boolean);
}

async function installChromium() {
  console.error('Installing Chromium for the browser tests (apt-get) …');
  await installPackages(['chromium']);
  const program = findChromium(process.env);
  return program !== undefined && runs(program) ? program : undefined;
}

/**
 * Checks whether the program is really a browser that starts: in some distributions, the package contains only a
 * program that prints where to get the browser.
 * @param {string} program
 */
function runs(program) {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
