/** The link that signs in one browser, once, and leads to a page. `url` has no trailing slash. */
export function link(url: string, code: string, path = '/'): string {
  return `${url}${path}?code=${encodeURIComponent(code)}`;
}
