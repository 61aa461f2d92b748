/** Buttons, and links that look like buttons. */
import { Icon, type IconName } from './icon.tsx';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  label: string;
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
export function Button({ label, look = 'primary', icon, type = 'submit', ...rest }: ButtonProps & ButtonAttributes) {
  return (
    <button type={type} class={look} {...rest}>
      {icon && <Icon name={icon} />}
      {label}
    </button>
  );
}

/** A link to a page with an action. */
export function LinkButton({ label, look = 'primary', icon, href }: ButtonProps & { href: string }) {
  return (
    <a class={`button ${look}`} href={href}>
      {icon && <Icon name={icon} />}
      {label}
    </a>
  );
}
