/** The records of the API that the screens about segments show. */
import type { FieldType } from '../../../audience/contacts/contact-fields.ts';
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

/** A field that rules can be about. */
export interface Field {
  field_name: string;
  field_type: FieldType;
}

export interface Country {
  name: string;
  iso2: string;
}

/** What rules can be made of. */
export interface Choices {
  types: ContactType[];
  fields: Field[];
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
  const [{ contactTypes }, { reservedFields }, { customFields }, { countries }] = await Promise.all([
    api.get<{ contactTypes: ContactType[] }>('/contacts-type'),
    api.get<{ reservedFields: Field[] }>('/reserve-fields'),
    api.get<{ customFields: Field[] }>('/custom-fields'),
    api.get<{ countries: Country[] }>('/get/countries'),
  ]);
  const added: Field = { field_name: 'created_at', field_type: 'datetime-local' };
  return { types: contactTypes, fields: [...reservedFields, added, ...customFields], countries };
}

/** A segment, and why its rules are not applied, if they are not. Throws an ApiFailure with 404 where there is none. */
export function readSegment(api: ApiClient, id: string): Promise<{ segment: Segment; problem: string | null }> {
  return api.get('/segment/details', { segment_id: id });
}
