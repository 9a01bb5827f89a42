import { basename } from 'node:path';

/** What an agent is started with, as far as it matters here. */
interface Command {
  command: string;
  args?: readonly string[];
}

/** The program `gemini` itself, or its package, which `npx` or `node` runs. */
const geminis = /^gemini(-cli)?(\.js)?(@.*)?$/;

/**
 * Whether an agent is offered to read and write files through Liminal, unless its configuration says so. Gemini CLI is
 * not: where it is, it takes each file that does not exist for one that cannot be read, whatever the answer says (seen
 * of 0.61), and so creates none.
 */
export const offersFiles = ({ command, args = [] }: Command): boolean =>
  ![command, ...args].some((one) => geminis.test(basename(one)));
