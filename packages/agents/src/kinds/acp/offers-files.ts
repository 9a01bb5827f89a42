import { basename } from 'node:path';

/** The command that starts an agent. */
interface Command {
  command: string;
  args?: readonly string[];
}

/** The program `gemini`, or its package in a command line of `npx` or `node`. */
const geminis = /^gemini(-cli)?(\.js)?(@.*)?$/;

/**
 * Returns whether an agent may read and write files through Liminal, unless its configuration decides. False for Gemini
 * CLI: if Liminal offers its files, version 0.61 treats every missing file as unreadable, whatever Liminal answers, and
 * creates no file.
 */
export const offersFiles = ({ command, args = [] }: Command): boolean =>
  ![command, ...args].some((one) => geminis.test(basename(one)));
