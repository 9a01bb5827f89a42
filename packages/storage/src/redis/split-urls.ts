/** The URLs of one setting: of one Redis, or of nodes of a cluster. Commas part them, which a password may have too. */
export function splitRedisUrls(urls: string): string[] {
  return urls.split(/,\s*(?=rediss?:\/\/)/);
}
