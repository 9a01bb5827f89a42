/** Whether a key that is pressed in this element types text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** The key code that browsers report for a key that an input method handles. */
const takenByInputMethod = 229;

/**
 * Whether an input method handles the key, for example the Enter that ends a word. Safari ends the composition before
 * it reports this Enter, so in Safari only the key code shows that the input method handles the key.
 */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === takenByInputMethod;
}

/** Hides the keys that an input method handles from the page's key listeners. The browser still handles these keys. */
export function leaveKeysToInputMethods(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (isComposing(event)) event.stopImmediatePropagation();
    },
    { capture: true },
  );
}

/**
 * Whether the device is used by touch. On such a device, a focused field opens the on-screen keyboard, and Enter begins
 * a new line of a message, since that keyboard has no Shift+Enter. A computer without a mouse is not such a device.
 */
export function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
