/** Buttons, and links that look like buttons. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  look?: Look;
  icon?: IconName;
}

/** What a button does: it submits the form, with a value if it has one, or opens and closes an element of the page. */
interface ButtonAttributes {
  type?: 'submit' | 'button';
  name?: string;
  value?: string;
  disabled?: boolean;
  /** Where the form goes instead of its own address. */
  formaction?: string;
  /** Submits the form without the browser's validation. */
  formnovalidate?: boolean;
  popovertarget?: string;
  popovertargetaction?: 'show' | 'hide';
}

/** A button. Unless its type is `button` it submits its form. */
export function Button({
  look = 'primary',
  icon,
  children,
  type = 'submit',
  ...rest
}: ButtonProps & ButtonAttributes & { children: ComponentChildren }) {
  return (
    <button type={type} class={look} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link to a page with an action. */
export function LinkButton({ look = 'primary', icon, href, label }: ButtonProps & { href: string; label: string }) {
  return (
    <a class={`button ${look}`} href={href}>
      {icon && <Icon name={icon} />}
      {label}
    </a>
  );
}
