/** The link that lets a browser in. `url` has no trailing slash. */
export function link(url: string, token: string): string {
  return `${url}/?token=${encodeURIComponent(token)}`;
}
