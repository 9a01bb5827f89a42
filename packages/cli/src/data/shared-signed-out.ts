import type { Board } from '@liminal/storage';
import type { StoredSignedOut } from './signed-out.ts';

const name = 'signed-out';
/** How long Redis keeps sign-outs, in ms: longer than a browser keeps its cookie. */
const ttlMs = 401 * 24 * 60 * 60_000;

/**
 * Shares sign-outs with all servers on the same Redis: these servers have the same token, so a browser that is signed
 * in on one server is signed in on all servers. Resolves when the sign-outs of the other servers are known, with a
 * function that ends the sharing. `onProblem` gets errors of Redis; this server’s own sign-outs still apply on this
 * server.
 */
export async function shareSignedOut(
  signedOut: StoredSignedOut,
  board: Board,
  onProblem: (error: unknown) => void,
): Promise<() => Promise<void>> {
  let posted: string | undefined;
  const post = (): void => {
    const { text } = signedOut;
    if (text === posted) return;
    posted = text;
    board.post(name, text, ttlMs).catch((error: unknown) => {
      posted = undefined;
      onProblem(error);
    });
  };
  const take = (text: string): void => {
    posted = text;
    signedOut.merge(text);
    post();
  };
  const readAgain = async (): Promise<void> => {
    const text = (await board.read([name])).get(name);
    posted = undefined;
    if (text === undefined) post();
    else take(text);
  };
  const report = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      onProblem(error);
    }
  };
  signedOut.watch(post);
  const unwatch = await board.watch(name, {
    onPost: (_name, text) => report(() => take(text)),
    onGap: () => void readAgain().catch(onProblem),
  });
  await readAgain();
  return unwatch;
}
