/** Returns a link to a page of the app. The link signs in one browser, and works once. `url` has no trailing slash. */
export function link(url: string, code: string, path = '/'): string {
  return `${url}${path}?code=${encodeURIComponent(code)}`;
}
