/** The fields that every contact has, and the names that custom fields cannot have. */

/** The properties of a field that every contact has. */
interface ReservedField {
  /** The description in the API reference. The default is “The text as it was given.” */
  description?: string;
  /**
   * Other names for the column of a file in English and German; those of `language` also in other languages. Case, spaces and signs are
   * ignored in comparisons.
   */
  headings: readonly string[];
  /** The value in the sample file. */
  sample: string;
  /** The autofill token for browsers (HTML, 4.10.18.7.1). */
  autocomplete?: string;
  /** True for a part of a postal address: an import joins several lines of a cell into one. */
  isOfAddress?: true;
  /** True for a field that the API's contract does not have. Responses in the form of the contract leave the field out. */
  isAddition?: true;
}

/**
 * The fields that every contact has, in the order of their ids in the API, which begin at 1. Their columns are in
 * src/database/schema/audience.ts.
 */
const RESERVED = {
  first_name: {
    description: 'First name.',
    headings: ['given name', 'forename', 'vorname', 'rufname'],
    sample: 'Zoë',
    autocomplete: 'given-name',
  },
  last_name: {
    description: 'Last name.',
    headings: ['surname', 'family name', 'nachname', 'familienname', 'zuname'],
    sample: 'Müller',
    autocomplete: 'family-name',
  },
  email: {
    headings: [
      'e-mail address',
      'mail',
      'mail address',
      'primary e-mail',
      'subscriber e-mail',
      'e-mail-adresse',
      'e-mail-anschrift',
      'mailadresse',
    ],
    sample: 'zoe@example.com',
    autocomplete: 'email',
  },
  alt_email: {
    headings: [
      'alternative e-mail',
      'alternate e-mail',
      'secondary e-mail',
      'e-mail 2',
      'alternative e-mail-adresse',
      'zweite e-mail',
      'weitere e-mail',
    ],
    sample: 'zoe.mueller@example.org',
  },
  country: {
    headings: ['country name', 'country code', 'nation', 'land', 'staat', 'ländercode'],
    sample: 'Germany',
  },
  state: {
    headings: ['province', 'bundesland', 'kanton'],
    sample: 'Bavaria',
    autocomplete: 'address-level1',
    isOfAddress: true,
  },
  city: {
    headings: ['town', 'city name', 'stadt', 'ort', 'wohnort'],
    sample: 'Munich',
    autocomplete: 'address-level2',
    isOfAddress: true,
  },
  address_line1: {
    headings: [
      'address',
      'address 1',
      'street',
      'street address',
      'street 1',
      'adresse',
      'adresse 1',
      'anschrift',
      'adresszeile 1',
      'straße',
      'strasse',
      'straße und hausnummer',
      'straße hausnummer',
      'straße nr',
    ],
    sample: 'Lindenstr. 4',
    autocomplete: 'address-line1',
    isOfAddress: true,
  },
  address_line2: {
    headings: ['address 2', 'street 2', 'adresse 2', 'adresszeile 2', 'adresszusatz', 'zusatz'],
    sample: '',
    autocomplete: 'address-line2',
    isOfAddress: true,
  },
  state_province_region: {
    headings: ['region', 'state or province', 'state or region'],
    sample: 'Upper Bavaria',
    autocomplete: 'address-level1',
    isOfAddress: true,
  },
  postal_code: {
    headings: ['zip', 'zip code', 'postcode', 'post code', 'zip or postal code', 'plz', 'postleitzahl'],
    sample: '80331',
    autocomplete: 'postal-code',
    isOfAddress: true,
  },
  language: {
    description:
      'Addition: the language, as an ISO 639-1 code such as de. A tag such as de-AT and a name such as German are understood and stored as the code.',
    headings: [
      'locale',
      'lang',
      'language code',
      'preferred language',
      'sprache',
      'langue',
      'idioma',
      'lingua',
      'taal',
      'język',
      'língua',
    ],
    sample: 'en',
    isAddition: true,
  },
} as const satisfies Record<string, ReservedField>;

type ReservedName = keyof typeof RESERVED;
/** The fields that are one line of text in a column of the same name. */
export type LineName = Exclude<ReservedName, 'email' | 'alt_email' | 'country'>;

/** The names of the reserved fields. */
export const RESERVED_FIELDS = Object.keys(RESERVED) as readonly ReservedName[];

/** The reserved fields that the API's contract has, in the order of their ids, which begin at 1. */
export const CONTRACT_FIELDS = RESERVED_FIELDS.filter((name) => !reservedField(name)?.isAddition);

/** Returns the properties of the reserved field with this name; undefined if there is none. */
export function reservedField(name: string): ReservedField | undefined {
  return isReservedField(name) ? RESERVED[name] : undefined;
}

function isReservedField(name: string): name is ReservedName {
  return Object.hasOwn(RESERVED, name);
}

/** Returns true if this is the name of a field that is one line of text in a column of the same name. */
export function isLineField(name: string): name is LineName {
  return isReservedField(name) && name !== 'email' && name !== 'alt_email' && name !== 'country';
}

/** The columns of the fields that are one line of text. */
export const LINE_COLUMNS: readonly LineName[] = RESERVED_FIELDS.filter(isLineField);

/**
 * Returns a value for each reserved field, in their order: the result of `line` for fields of one line of text, and the value
 * in `others` for the rest.
 */
export function byField<Others extends Record<Exclude<ReservedName, LineName>, unknown>, Line>(
  others: Others,
  line: (name: LineName) => Line,
): Others & Record<LineName, Line> {
  const entries = RESERVED_FIELDS.map((name) => [name, isLineField(name) ? line(name) : others[name]]);
  return Object.fromEntries(entries);
}

/** Conditions in mails use this name instead of a field name to ask for the topics that a contact gets. */
export const TOPIC = 'topic';

const RESERVED_NAMES = new Set<string>([
  ...RESERVED_FIELDS,
  TOPIC,
  // Rules of segments use this name for the time when a contact was added.
  'created_at',
  // Placeholders of mails.
  'full_name',
  'sender_name',
  'sender_address',
  'unsubscribe_preferences',
  'web_copy',
  // Names that every JavaScript object or class has.
  '__proto__',
  'constructor',
  'prototype',
]);

/** Returns true if a custom field must not have this name. Upper and lower case are the same. */
export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.has(name.toLowerCase());
}
