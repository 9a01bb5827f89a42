import { basename } from 'node:path';

/** How an agent is started. */
interface Command {
  command: string;
  args?: readonly string[];
}

/** The program `gemini` itself, or its package, which `npx` or `node` runs. */
const geminis = /^gemini(-cli)?(\.js)?(@.*)?$/;

/**
 * Whether an agent may read and write files through Liminal, unless its configuration decides. Gemini CLI may not: with
 * that offer, version 0.61 treats a missing file as an unreadable one, whatever the answer is, and creates no file.
 */
export const offersFiles = ({ command, args = [] }: Command): boolean =>
  ![command, ...args].some((one) => geminis.test(basename(one)));
