/** Notices about a session from Claude Code's messages, besides its turns. */
import { z } from 'zod';
import { headOf, type SessionNotice, type UsageLimit } from '@liminal/protocol';
import { serverStarting } from '../../../base/notice-board.ts';
import { timeOfSeconds } from '../../../base/usage-limits.ts';

/** All notices about one topic. They replace the earlier notices about the topic. */
interface TopicNotices {
  topic: string;
  notices: SessionNotice[];
}

const Start = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('init'),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: z.string() })).catch([]),
  plugin_errors: z.array(z.looseObject({ plugin: z.string(), message: z.string() })).catch([]),
});

const Banner = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('informational'),
  content: z.string(),
  level: z.literal('warning'),
  tag: z.string().optional(),
});

const Limit = z.looseObject({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.looseObject({
    status: z.string(),
    /** Seconds since the epoch. */
    resetsAt: z.number().optional(),
    rateLimitType: z.string().optional(),
    /** From 0 to 1. */
    utilization: z.number().optional(),
  }),
});
type LimitInfo = z.infer<typeof Limit>['rate_limit_info'];

const NoticeMessage = z.union([Start, Banner, Limit]);
const noticeTypes = new Set<unknown>(['system', 'rate_limit_event']);

const warning = (text: string): SessionNotice => ({ level: 'warning', text });

/** Returns whether a warning is about the session although the warning arrives in the first turn. */
export const isAboutSession = (tag: unknown): boolean => tag === 'settings_not_in_effect';

/**
 * Returns a message's notices by topic; empty for most messages. Leaves out warnings during a turn (`inTurn`), because
 * they become items of the turn.
 */
export function readNotices(message: unknown, inTurn: boolean): TopicNotices[] {
  if (typeof message !== 'object' || message === null || !('type' in message)) return [];
  if (!noticeTypes.has(message.type)) return [];
  const noticeMessage = NoticeMessage.safeParse(message).data;
  if (noticeMessage === undefined) return [];
  if (noticeMessage.type === 'rate_limit_event') {
    return [{ topic: 'limit', notices: limitNotices(noticeMessage.rate_limit_info) }];
  }
  if (noticeMessage.subtype === 'init') return startNotices(noticeMessage);
  if (inTurn && !isAboutSession(noticeMessage.tag)) return [];
  return [
    {
      topic: noticeMessage.tag ?? noticeMessage.content,
      notices: [warning(noticeMessage.content)],
    },
  ];
}

export interface McpServerState {
  name: string;
  status: string;
}

/** Notices about MCP servers with problems, and about servers that are still starting. */
export const serverNotices = (servers: readonly McpServerState[]): SessionNotice[] =>
  servers.flatMap(({ name, status }): SessionNotice[] => {
    if (status === 'pending') return [{ level: 'info', text: serverStarting(name) }];
    const problem = Object.hasOwn(serverProblems, status) ? serverProblems[status] : undefined;
    return problem === undefined ? [] : [warning(`The MCP server “${name}” ${problem}`)];
  });

function startNotices({ mcp_servers, plugin_errors }: z.infer<typeof Start>): TopicNotices[] {
  const plugins = plugin_errors.map(({ plugin, message }) =>
    warning(`The plugin “${plugin}” has a problem: ${message}`),
  );
  return [
    { topic: 'mcp', notices: serverNotices(mcp_servers) },
    { topic: 'plugins', notices: plugins },
  ];
}

const serverProblems: Record<string, string> = {
  failed: 'did not start: its tools are missing.',
  'needs-auth':
    'needs you to sign in: choose “MCP servers” in the session’s menu, or run /mcp in claude in a terminal.',
};

/** Returns the account's usage limit that a message reports. */
export function readLimit(message: unknown): UsageLimit[] {
  const info = Limit.safeParse(message).data?.rate_limit_info;
  if (info === undefined) return [];
  const { status, utilization, resetsAt } = info;
  const time = resetsAt === undefined ? undefined : timeOfSeconds(resetsAt);
  const limit = {
    name: limitName(info),
    ...(utilization !== undefined && { usedPercent: Math.round(utilization * 1_000) / 10 }),
    ...(time !== undefined && { resetsAt: time }),
    ...(status === 'rejected' && { isReached: true }),
  };
  return [limit];
}

const limitName = ({ rateLimitType = '' }: LimitInfo): string =>
  (Object.hasOwn(windows, rateLimitType) ? windows[rateLimitType] : undefined) ?? 'usage limit';

const windows: Record<string, string> = {
  five_hour: '5-hour limit',
  seven_day: 'weekly limit',
  seven_day_opus: 'weekly limit for Opus',
  seven_day_sonnet: 'weekly limit for Sonnet',
};

function limitNotices(info: LimitInfo): SessionNotice[] {
  const { status, utilization, resetsAt } = info;
  const limit = limitName(info);
  const time = resetsAt === undefined ? undefined : timeOf(resetsAt);
  const until = time === undefined ? '' : ` It resets at ${time}.`;
  if (status === 'rejected') return [warning(`Your ${limit} is reached.${until}`)];
  if (status !== 'allowed_warning') return [];
  const share = utilization === undefined ? 'most' : `${Math.floor(utilization * 100)} %`;
  return [warning(`You have used ${share} of your ${limit}.${until}`)];
}

/** Returns the time in UTC, since the reader's time zone is unknown; undefined if the number is not a valid time. */
function timeOf(seconds: number): string | undefined {
  const time = timeOfSeconds(seconds);
  return time && `${time.slice(0, 16).replace('T', ' ')} UTC`;
}

/** Returns notices for the lines of the running program's error output, without the lines that Node adds. */
export function readErrorOutput(output: string): SessionNotice[] {
  const lines = output.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !/^\(node:\d+\)|^\(Use `node /.test(line))
    .slice(-mostLines)
    .map((line) => warning(headOf(line, mostCharacters)));
}

const mostLines = 4;
const mostCharacters = 600;
