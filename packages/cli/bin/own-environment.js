// Plain JavaScript: the launcher runs this file before it has a Node that reads TypeScript.
import { closeSync, openSync, readFileSync, readSync, realpathSync, writeSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';

/** Keep the process mark set by an outer Liminal: it needs the mark to end us. */
const keptVariables = ['LIMINAL_MARK'];

/** @param {string} name */
const isOwn = (name) => name.startsWith('LIMINAL_') && !keptVariables.includes(name);

/**
 * Removes Liminal's own variables, including the token, from an environment that agents will inherit.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Record<string, string>} The removed variables.
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
 * Removes the programs that npm installed with Liminal, including a Node, from the search path, where npm and the
 * launcher put them first: agents must find the same programs as in a terminal.
 * @param {NodeJS.ProcessEnv} env
 */
export function takeOwnPrograms(env) {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => !isOwnFolder(folder));
  if (env['PATH'] !== undefined) env['PATH'] = folders.join(delimiter);
}

/**
 * Whether a folder has Liminal's programs: the running Node is among them.
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
 * Removes Liminal's variables and programs from this process' environment, and overwrites the copy that the system
 * shows to all processes of the same user: Linux keeps the environment and the arguments of a program's start in the
 * program's own memory, and reads them there for `/proc/PID/environ` and `/proc/PID/cmdline`. Call it before anything
 * is started. If that memory cannot be written, nothing is changed; `exposedSecrets` finds secrets that remain visible.
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
    const { cmdline, environ } = shownRanges();
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      overwrite(memory, 'environ', environ, blankVariables);
      overwrite(memory, 'cmdline', cmdline, maskToken);
    } finally {
      closeSync(memory);
    }
  } catch {
    // Not every system lets a program write to its memory file.
  }
}

/** The memory addresses: the fields arg_start, arg_end, env_start and env_end of proc_pid_stat(5). */
function shownRanges() {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The second field is the program's name in brackets; the name may contain spaces and brackets.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [start = 0, end = 0, envStart = 0, envEnd = 0] = fields.slice(45, 49);
  return { cmdline: { start, end }, environ: { start: envStart, end: envEnd } };
}

/**
 * Overwrites the memory only if it holds exactly the bytes that the system shows.
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
 * Splits NUL-terminated strings. The results are views of the same buffer.
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
