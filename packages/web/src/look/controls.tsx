import type { ComponentProps, ReactNode } from 'react';
import css from './controls.module.css';

interface ButtonProps extends ComponentProps<'button'> {
  look?: 'plain' | 'primary' | 'quiet' | 'danger';
}

export function Button({ look = 'plain', className, ...rest }: ButtonProps) {
  const variant = look === 'plain' ? '' : css[look];
  return <button type="button" className={join(css.button, variant, className)} {...rest} />;
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** What it does: its accessible name and its tooltip. */
  label: string;
}

export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={join(css.icon, className)}
      aria-label={label}
      title={label}
      {...rest}
    />
  );
}

/** Shows a key to press; its effect is described elsewhere. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className={css.kbd} aria-hidden="true">
      {children}
    </kbd>
  );
}

/** One class attribute from classes that may be missing. */
export function join(...classes: (string | undefined | false)[]): string {
  return classes.filter(Boolean).join(' ');
}
