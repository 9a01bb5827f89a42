/** Whether the text is an http or https URL. */
export function isHttpAddress(text: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '');
}
