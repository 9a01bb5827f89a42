// Plain JavaScript, since the launcher needs it before there is a Node that reads TypeScript.
import { closeSync, openSync, readFileSync, readSync, realpathSync, writeSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

/** What marks the processes of an outer Liminal's agent must stay, so that the outer one can end them. */
const kept = ['LIMINAL_MARK'];

/** @param {string} name */
const isOwn = (name) => name.startsWith('LIMINAL_') && !kept.includes(name);

/**
 * Takes Liminal's own variables, the token among them, out of an environment that agents will inherit.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>} What was taken.
 */
export function takeOwnVariables(env) {
  /** @type {Record<string, string>} */
  const own = {};
  for (const [name, value] of Object.entries(env)) {
    if (!isOwn(name) || value === undefined) continue;
    own[name] = value;
    delete env[name];
  }
  return own;
}

/**
 * Takes the programs that npm has installed with Liminal off the search path, a Node among them: agents find what people
 * have, as in a terminal. npm and the launcher put them before all others.
 * @param {NodeJS.ProcessEnv} env
 */
export function takeOwnPrograms(env) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => !isOwnFolder(folder));
  if (env['PATH'] !== undefined) env['PATH'] = folders.join(delimiter);
}

/**
 * Whether programs in a folder are Liminal's: the Node that runs this is among them.
 * @param {string} folder
 */
function isOwnFolder(folder) {
  if (basename(folder) !== '.bin') return false;
  try {
    return realpathSync(join(folder, 'node')) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}

/**
 * Takes both out of this process' environment, and overwrites what the system goes on showing of it to all processes of
 * the same user: Linux keeps the environment and the arguments that a program was started with in the program's own
 * memory, and reads them there for `/proc/PID/environ` and `/proc/PID/cmdline`. Call it before anything is started.
 * Where that memory cannot be written, nothing is; `exposedIn` finds what is still to be seen.
 * @returns {Record<string, string>} The variables.
 */
export function takeOwnEnvironment() {
  const own = takeOwnVariables(process.env);
  takeOwnPrograms(process.env);
  if (process.platform === 'linux') overwriteShown();
  return own;
}

function overwriteShown() {
  try {
    const { cmdline, environ } = shownPlaces();
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      overwrite(memory, 'environ', environ, blankVariables);
      overwrite(memory, 'cmdline', cmdline, maskToken);
    } finally {
      closeSync(memory);
    }
  } catch {
    // Not every system lets a program write there.
  }
}

/** Addresses: the fields arg_start, arg_end, env_start and env_end of proc_pid_stat(5). */
function shownPlaces() {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The second field is the program's name in brackets, which may itself hold spaces and brackets.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [start = 0, end = 0, envStart = 0, envEnd = 0] = fields.slice(45, 49);
  return { cmdline: { start, end }, environ: { start: envStart, end: envEnd } };
}

/**
 * Overwrites only what is, byte for byte, what the system shows.
 * @param {number} memory
 * @param {'environ' | 'cmdline'} shown
 * @param {{ start: number, end: number }} place
 * @param {(texts: Buffer[]) => void} change
 */
function overwrite(memory, shown, { start, end }, change) {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  readSync(memory, bytes, 0, bytes.length, start);
  if (!bytes.equals(readFileSync(`/proc/self/${shown}`))) return;
  change(split(bytes));
  writeSync(memory, bytes, 0, bytes.length, start);
}

/**
 * The texts in a row of them that each end with a zero; they share its memory.
 * @param {Buffer} bytes
 */
function split(bytes) {
  const texts = [];
  for (let at = 0; at < bytes.length;) {
    const zero = bytes.indexOf(0, at);
    const end = zero === -1 ? bytes.length : zero;
    texts.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return texts;
}

/** @param {Buffer[]} variables */
function blankVariables(variables) {
  for (const variable of variables) {
    if (isOwn(String(variable).split('=')[0] ?? '')) variable.fill(0);
  }
}

/** @param {Buffer[]} args */
function maskToken(args) {
  const flag = '--token';
  for (const [at, arg] of args.entries()) {
    if (String(args[at - 1]) === flag) arg.fill('x');
    if (String(arg).startsWith(`${flag}=`)) arg.fill('x', flag.length + 1);
  }
}
