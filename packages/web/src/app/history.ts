import { useCallback, useEffect, useEffectEvent, useState } from 'react';

/**
 * Writes the browser's history. The history has an entry for each address that was shown, and an entry for each layer
 * that is open in front of the page, so that Back closes the topmost layer first.
 */
const layers: (() => void)[] = [];
let address = shownAddress();
let onAddress: () => void = () => undefined;
/** Whether the browser is going back one entry because a layer was closed by something other than Back. */
let isLeaving = false;
let isDue = false;

window.addEventListener('popstate', () => {
  if (isLeaving) {
    isLeaving = false;
    settle();
    return;
  }
  while (layers.length > layersOfEntry()) layers.pop()?.();
  if (shownAddress() !== address) {
    address = shownAddress();
    onAddress();
  }
  settleSoon();
});
// After the page is loaded again, no layers are open, although the history entry may count some.
settleSoon();

/** Shows an address, which consists of pathname and hash. */
export function goToAddress(next: string): void {
  address = next;
  settleSoon();
}

/**
 * Calls `listener` when a person moves back or forward to another address. Returns a function that removes the
 * listener.
 */
export function listenToAddress(listener: () => void): () => void {
  onAddress = listener;
  return () => {
    onAddress = () => undefined;
  };
}

/** While `isOpen`, Back calls `close` instead of leaving the page's address. */
export function useLayer(isOpen: boolean, close: () => void): void {
  const closeNow = useEffectEvent(close);
  useEffect(() => (isOpen ? openLayer(() => closeNow()) : undefined), [isOpen]);
}

/** Returns the props for a menu's root. With these props, Back closes the menu. */
export function useMenuLayer(): { open: boolean; onOpenChange: (isOpen: boolean) => void } {
  const [open, setOpen] = useState(false);
  useLayer(open, () => setOpen(false));
  const onOpenChange = useCallback((isOpen: boolean) => setOpen(isOpen), []);
  return { open, onOpenChange };
}

function openLayer(close: () => void): () => void {
  layers.push(close);
  settleSoon();
  return () => {
    const index = layers.indexOf(close);
    // Back has already closed the layer.
    if (index < 0) return;
    layers.splice(index, 1);
    settleSoon();
  };
}

/** Calls `settle` once after all changes of the same tick, because one layer often closes when another layer opens. */
function settleSoon(): void {
  if (isDue) return;
  isDue = true;
  queueMicrotask(settle);
}

/** Changes the history until its entries fit the address and the open layers. */
function settle(): void {
  isDue = false;
  if (isLeaving) return;
  const surplus = layersOfEntry() - layers.length;
  if (surplus > 0) {
    isLeaving = true;
    history.go(-surplus);
    return;
  }
  if (shownAddress() !== address) history.pushState(history.state, '', address);
  for (let count = layersOfEntry() + 1; count <= layers.length; count++) {
    history.pushState({ layers: count }, '');
  }
}

/** Returns the number of open layers that is stored in the current history entry. */
function layersOfEntry(): number {
  const state: unknown = history.state;
  const isLayer = typeof state === 'object' && state !== null && 'layers' in state;
  return isLayer && typeof state.layers === 'number' ? state.layers : 0;
}

function shownAddress(): string {
  return location.pathname + location.hash;
}
