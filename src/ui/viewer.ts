/** The signed-in user for whom a page is made. */

/** What a user may do, from least to most: a viewer changes nothing; an editor changes everything but settings, keys and users. */
export type Role = 'viewer' | 'editor' | 'owner';

export type ColourScheme = 'system' | 'light' | 'dark';

/** The signed-in user for whom a page is made, whatever the user's role. */
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
