/** Whether keys pressed in this element type text. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** The key code of a key that an input method handles. */
const takenByInputMethod = 229;

/**
 * Whether a key belongs to an input method, for example the Enter that ends a word. Safari ends the composition
 * before it reports this Enter, so only the key code shows that the key belongs to the input method.
 */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === takenByInputMethod;
}

/** Hides the keys of input methods from the page's key listeners; the browser still handles them. */
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
 * Whether the device is used by touch. A focused field then opens the on-screen keyboard, and Enter begins a new line of
 * a message, since that keyboard has no Shift+Enter. A computer without a mouse is not a touch device.
 */
export function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
