/** Whether the text is an http or https URL. */
export function isHttpUrl(text: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
}
