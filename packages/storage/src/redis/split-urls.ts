/** The URLs of one setting: one Redis, or nodes of a cluster. Separated by commas, which a password may contain too. */
export function splitRedisUrls(urls: string): string[] {
  return urls.split(/,\s*(?=rediss?:\/\/)/);
}
