/**
 * Returns the URLs of one setting: one Redis, or nodes of a cluster, separated by commas. A password may also contain
 * commas.
 */
export function splitRedisUrls(urls: string): string[] {
  return urls.split(/,\s*(?=rediss?:\/\/)/);
}
