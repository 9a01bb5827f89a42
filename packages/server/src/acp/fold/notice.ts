import type * as Acp from '@agentclientprotocol/sdk';

type Notice = Extract<Acp.SessionUpdate, { sessionUpdate: 'notice' }>;

/** Words to people: the first line is what they read at once. `text` is not blank: a notice without a title is none. */
export function noticeOf(severity: 'info' | 'warning' | 'error', text: string): Notice {
  const [title = '', ...rest] = text.trim().split('\n');
  const description = rest.join('\n').trim();
  return { sessionUpdate: 'notice', severity, title, ...(description !== '' && { description }) };
}
