/** The link that signs one browser in, once, and leads to a page. `url` has no trailing slash. */
export function link(url: string, code: string, path = '/'): string {
  return `${url}${path}?code=${encodeURIComponent(code)}`;
}
