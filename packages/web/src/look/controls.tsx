import type { ComponentProps, ReactNode } from 'react';
import css from './controls.module.css';

interface ButtonProps extends ComponentProps<'button'> {
  look?: 'plain' | 'primary' | 'quiet' | 'danger';
}

export function Button({ look = 'plain', className, ...rest }: ButtonProps) {
  const variant = look === 'plain' ? '' : css[look];
  return <button type="button" className={joinClasses(css.button, variant, className)} {...rest} />;
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** The button's action, as its accessible name and tooltip. */
  label: string;
}

export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={joinClasses(css.icon, className)}
      aria-label={label}
      title={label}
      {...rest}
    />
  );
}

/** Shows the name of a key as on a keyboard. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className={css.kbd} aria-hidden="true">
      {children}
    </kbd>
  );
}

/** Joins classes into one attribute; leaves out classes that are undefined or false. */
export function joinClasses(...classes: (string | undefined | false)[]): string {
  return classes.filter(Boolean).join(' ');
}
