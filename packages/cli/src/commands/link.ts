import type { Config } from '../config/load.ts';
import { linkTo, runningServer } from '../running-server.ts';

/** Prints a link that signs in one more browser. */
export async function printLink(config: Config): Promise<number> {
  console.log(await linkTo(await runningServer(config)));
  return 0;
}
