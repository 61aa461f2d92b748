/** Buttons, and links that look like buttons. */
import { Icon, type IconName } from './icon.tsx';

type Look = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps {
  label: string;
  look?: Look;
  icon?: IconName;
}

/** The HTML attributes of a button, which submits a form or opens and closes an element of the page. */
interface ButtonAttributes {
  type?: 'submit' | 'button';
  name?: string;
  value?: string;
  disabled?: boolean;
  /** The URL to which the form is submitted instead of its own. */
  formaction?: string;
  /** True if the form is submitted without the browser's validation. */
  formnovalidate?: boolean;
  /** The id of the element that the button opens or closes. */
  popovertarget?: string;
  popovertargetaction?: 'show' | 'hide';
}

/** A button. It submits its form unless its type is `button`. */
export function Button({
  label,
  look = 'primary',
  icon,
  type = 'submit',
  ...attributes
}: ButtonProps & ButtonAttributes) {
  return (
    <button type={type} class={look} {...attributes}>
      {icon && <Icon name={icon} />}
      {label}
    </button>
  );
}

/** A link that looks like a button, because the page behind it is the next step of an action. */
export function LinkButton({ label, look = 'primary', icon, href }: ButtonProps & { href: string }) {
  return (
    <a class={`button ${look}`} href={href}>
      {icon && <Icon name={icon} />}
      {label}
    </a>
  );
}
