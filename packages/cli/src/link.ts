/** The link that signs one browser in, once. `url` has no trailing slash. */
export function link(url: string, code: string): string {
  return `${url}/?code=${encodeURIComponent(code)}`;
}
