/** A link that signs in one browser, works once, and leads to a page of the app. `url` has no trailing slash. */
export function link(url: string, code: string, path = '/'): string {
  return `${url}${path}?code=${encodeURIComponent(code)}`;
}
