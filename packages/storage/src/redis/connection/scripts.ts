import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script that Redis runs as one step. */
export interface Script {
  lua: string;
  sha: string;
}

function load(name: string): Script {
  const lua = readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** The scripts by name. Each file begins with its purpose, keys and arguments. */
export const scripts = {
  append: load('append'),
  progress: load('progress'),
  settle: load('settle'),
  trim: load('trim'),
  announce: load('announce'),
  retire: load('retire'),
  keep: load('keep'),
  letGo: load('let-go'),
  bury: load('bury'),
  acquire: load('acquire'),
  renew: load('renew'),
  holder: load('holder'),
  openInbox: load('open-inbox'),
  keepInbox: load('keep-inbox'),
  closeInbox: load('close-inbox'),
  send: load('send'),
  post: load('post'),
  wake: load('wake'),
  attend: load('attend'),
  takeTask: load('take-task'),
  say: load('say'),
};
