import { errors } from '../errors.ts';
import type { Config } from '../config/load.ts';
import { connectTo } from '../connect.ts';
import { withMarkedRows } from '../terminal/rows.ts';

/** Asks a session's model a question outside the conversation, and prints the answer. */
export async function aside(sessionId: string, question: string, config: Config): Promise<number> {
  if (question.trim() === '') throw errors.INVALID_CONFIG.empty('question');
  const { client, close } = await connectTo(sessionId, config);
  const { requests } = client;
  try {
    const { answer } = await requests.aside(sessionId, question);
    console.log(withMarkedRows(answer));
    return 0;
  } finally {
    await close();
  }
}
