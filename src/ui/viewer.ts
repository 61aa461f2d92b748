/** The signed-in user for whom a page is made, whatever the user's role. */
import type { ColourScheme, Role } from '../database/schema/index.ts';

export interface Viewer {
  name: string;
  email: string;
  role: Role;
  /** True if the user is an operator of the whole installation: its relays, backups and held sending. */
  isOperator: boolean;
  accountId: number;
  /** The language that the user has chosen; null: the browser's. */
  language: string | null;
  /** True if single keys are shortcuts for this user. */
  shortcuts: boolean;
  /** The colour scheme that the user has chosen; system: as the browser asks for. */
  colourScheme: ColourScheme;
}
