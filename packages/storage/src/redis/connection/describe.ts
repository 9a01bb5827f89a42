import { RedisLink } from './link.ts';

/** The version of a Redis, and those settings that are unsafe for a log that must not lose events. */
export interface RedisReport {
  /** The server's name and version. */
  title: string;
  /** One sentence for each unsafe setting; the sentence includes what to do. */
  troubles: string[];
}

/** The first version with all commands that Liminal uses. */
const oldest = [6, 2];

/** Reports on a Redis, and changes nothing. Throws StorageError `REDIS_UNAVAILABLE`. */
export async function describeRedis(url: string): Promise<RedisReport> {
  const link = await RedisLink.open(url);
  try {
    return reportOn(String(await link.call('INFO')));
  } finally {
    link.close();
  }
}

/** @param info - Redis's answer to `INFO`: lines of `name:value`. */
export function reportOn(info: string): RedisReport {
  const facts = new Map(info.split('\r\n').map((line) => pairOf(line)));
  const version = facts.get('redis_version') ?? '';
  const valkey = facts.get('valkey_version');
  const policy = facts.get('maxmemory_policy') ?? 'noeviction';
  const troubles: string[] = [];
  if (isOlder(version)) troubles.push('It is too old: 6.2 or newer is needed.');
  if (facts.get('aof_enabled') === '0') {
    troubles.push('It loses running turns when it crashes: set appendonly to yes.');
  }
  if (policy !== 'noeviction') {
    troubles.push(
      `It deletes running turns when its memory is full (${policy}): set maxmemory-policy to noeviction.`,
    );
  }
  return { title: valkey === undefined ? `Redis ${version}` : `Valkey ${valkey}`, troubles };
}

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1)];
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldest;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
