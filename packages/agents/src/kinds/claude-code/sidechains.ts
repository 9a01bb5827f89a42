/** Reads subagents' conversations that older versions of Claude Code stored in the session's own file. */
import { z } from 'zod';
import type { RawEntry, RawTranscript } from './raw-transcript.ts';
import { messageText } from './translate/transcript.ts';

const Calls = z.looseObject({
  content: z.array(
    z.looseObject({
      type: z.string(),
      id: z.string().optional().catch(undefined),
      input: z.looseObject({ prompt: z.string() }).optional().catch(undefined),
    }),
  ),
});

interface Joined {
  /** Subagents' entries, by the call that started each subagent. */
  subagents: Map<string, RawEntry[]>;
  /** The entries of subagents whose calls are missing from the file, converted to entries of the conversation. */
  strays: RawEntry[];
}

/** Finds the call that started each subagent, by the prompt in the call. */
export function joinSidechains({ entries, sidechains }: RawTranscript): Joined {
  const joined: Joined = { subagents: new Map(), strays: [] };
  if (sidechains.length === 0) return joined;
  const calls = new Map<string, string[]>();
  for (const { id, prompt } of [...entries, ...sidechains.flat()].flatMap(callsIn)) {
    calls.set(prompt, [...(calls.get(prompt) ?? []), id]);
  }
  for (const sidechain of sidechains) {
    const prompt = sidechain[0] === undefined ? '' : messageText(sidechain[0]);
    const callId = calls.get(prompt)?.shift();
    if (callId === undefined) joined.strays.push(...asStray(sidechain));
    else joined.subagents.set(callId, sidechain);
  }
  return joined;
}

const callsIn = ({ message }: RawEntry): { id: string; prompt: string }[] =>
  (Calls.safeParse(message).data?.content ?? []).flatMap(({ type, id, input }) =>
    type === 'tool_use' && id !== undefined && input !== undefined
      ? [{ id, prompt: input.prompt }]
      : [],
  );

/**
 * Converts a subagent's messages to entries of the conversation. The messages in the user's name become notes, because
 * the agent that called the subagent wrote them.
 */
function asStray(sidechain: readonly RawEntry[]): RawEntry[] {
  return sidechain.map((entry, place) => {
    const words = entry.type === 'user' ? messageText(entry) : '';
    if (words === '') return entry;
    const content = place === 0 ? `${noCall}\n\n${words}` : words;
    return { ...entry, type: 'system', subtype: 'note', message: undefined, content };
  });
}

const noCall = 'Claude Code’s file does not name the call that started this subagent. Its task:';
