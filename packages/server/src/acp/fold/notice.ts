import type * as Acp from '@agentclientprotocol/sdk';

type Notice = Extract<Acp.SessionUpdate, { sessionUpdate: 'notice' }>;

/** Returns a notice for people. The first line of `text` is the notice's title. `text` must not be blank. */
export function noticeOf(severity: 'info' | 'warning' | 'error', text: string): Notice {
  const [title = '', ...rest] = text.trim().split('\n');
  const description = rest.join('\n').trim();
  return { sessionUpdate: 'notice', severity, title, ...(description !== '' && { description }) };
}
