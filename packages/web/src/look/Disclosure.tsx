import type { ComponentProps } from 'react';

interface DisclosureProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  isOpen: boolean;
  onToggle: () => void;
  /** The id of the content, which is rendered only while it is open. */
  contentId?: string;
}

/** A button that shows and hides the content below it. */
export function Disclosure({ isOpen, onToggle, contentId, ...rest }: DisclosureProps) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={isOpen ? contentId : undefined}
      onClick={onToggle}
      {...rest}
    />
  );
}
