/** The records of the API that the screens about segments show. */
import type { FieldType } from '../../../audience/contacts/contact-fields.ts';
import { ACTIVITY_FIELDS } from '../../../audience/segments/activity-rules.ts';
import type { SegmentRule } from '../../../database/schema/index.ts';
import type { ApiClient } from '../../api-client.ts';

export interface Segment {
  id: number;
  contact_type_id: number;
  segment_name: string;
  select_field: string[];
  select_operator: string[];
  value: string[];
  query_type: 'and' | 'or' | null;
  segment_emails_count: number;
}

export interface ContactType {
  id: number;
  name: string;
  contacts_count: number;
}

/** A field of contacts. */
export interface Field {
  field_name: string;
  field_type: FieldType;
}

/** What a rule can be about: a field of contacts, or what they did with mails. */
export interface RuleField {
  field_name: string;
  field_type: SegmentRule['type'];
}

export interface Country {
  name: string;
  iso2: string;
}

/** A mail or an automation that a rule can name; a mail has a subject. */
export interface Named {
  utr: string;
  name: string;
  subject?: string;
}

/** What rules can be made of. */
export interface Choices {
  mails: Named[];
  automations: Named[];
  types: ContactType[];
  fields: RuleField[];
  countries: Country[];
}

/** Whom rules match, as far as it was counted; `next` is where to go on, or null. */
export interface Matches {
  count: number;
  contacts: { id: number; fullname: string; email: string }[];
  next: string | null;
}

/** What depends on a segment. */
export interface Uses {
  people: number;
  single_sends: number;
  queued_single_sends: number;
  automations: number;
  live_automations: number;
}

export async function readChoices(api: ApiClient): Promise<Choices> {
  const [{ contactTypes }, { reservedFields }, { customFields }, { countries }, { mails, automations }] =
    await Promise.all([
      api.get<{ contactTypes: ContactType[] }>('/contacts-type'),
      api.get<{ reservedFields: Field[] }>('/reserve-fields'),
      api.get<{ customFields: Field[] }>('/custom-fields'),
      api.get<{ countries: Country[] }>('/get/countries'),
      api.get<{ mails: Named[]; automations: Named[] }>('/segment/names'),
    ]);
  const added: Field = { field_name: 'created_at', field_type: 'datetime-local' };
  const activity = Object.entries(ACTIVITY_FIELDS).map(([field_name, field_type]) => ({ field_name, field_type }));
  const fields = [...reservedFields, added, ...customFields, ...activity];
  return { types: contactTypes, fields, countries, mails, automations };
}

/** Throws an ApiFailure with 404 where there is none. */
export function readSegment(api: ApiClient, id: string): Promise<{ segment: Segment }> {
  return api.get('/segment/details', { segment_id: id });
}
