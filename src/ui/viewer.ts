/** The viewer of a page: the signed-in user for whom the page is made. The viewer may have any role, not only the role `viewer`. */
import type { ColourScheme, Role } from '../database/schema/index.ts';

export interface Viewer {
  /** The user's name, or the e-mail address if the user has no name. */
  name: string;
  email: string;
  role: Role;
  /** True if the user is an operator of the whole installation: its relays, backups and held sending. */
  isOperator: boolean;
  accountId: number;
  /** The language that the user has chosen; null for the language of the browser. */
  language: string | null;
  /** True if single keys are shortcuts for this user. */
  shortcuts: boolean;
  /** The colour scheme that the user has chosen; `system` for the one that the browser asks for. */
  colourScheme: ColourScheme;
}
